"""What must stay before what."""

from dataclasses import replace
from random import Random

import pytest

from celosia.isa.encoding import Function
from celosia.isa.presets import resolve_config
from celosia.sw.ir.graph import View
from celosia.sw.ir.program import (
    Drain,
    Load,
    LoadParameters,
    LocalRows,
    Products,
    Space,
    Store,
    Transform,
)
from celosia.sw.scheduling.dependences import accesses, dependences
from tests.support import nests

CONFIG = resolve_config("tiny")
DIM = CONFIG.dim
VIEW = View("x", 0, 0, DIM, DIM)


def rows(row, space=Space.SCRATCHPAD, count=DIM, blocks=1, pitch=None):
    return LocalRows(space, row, count, blocks, pitch or count)


def sums(row, blocks=1):
    return rows(row, Space.ACCUMULATOR, blocks=blocks)


def product(a, w, c, *, accumulate=False):
    return nests.product(a, w, c, DIM, DIM, DIM, accumulate=accumulate)


def needs(*ops):
    return dependences(ops, CONFIG)


def test_products_need_their_operands_and_loads_wait_for_the_last_reader():
    a, w = Load(VIEW, rows(0)), Load(VIEW, rows(DIM))
    multiply, again = product(0, DIM, 0), product(0, DIM, DIM)
    assert needs(a, w, multiply, again, a, w) == [(), (), (0, 1), (0, 1), (0, 3), (1, 3)]


def test_rows_beside_each_other_are_apart():
    spread = Load(VIEW, rows(0, count=2, blocks=2, pitch=2 * DIM))
    between = Load(VIEW, rows(2, count=2 * DIM - 2))
    assert needs(spread, between) == [(), ()]
    assert needs(spread, Load(VIEW, rows(1, count=2))) == [(), (0,)]


def test_sums_are_continued_drained_and_overwritten_in_order():
    begin, go_on = product(0, DIM, 0), product(0, DIM, 0, accumulate=True)
    drain = Store(VIEW, sums(0))
    assert needs(begin, go_on, drain, begin) == [(), (0,), (1,), (1, 2)]
    assert needs(begin, drain, go_on) == [(), (0,), (0, 1)]
    other = product(0, DIM, DIM)
    assert needs(begin, other) == [(), ()]


def test_a_nest_touches_the_rows_of_its_products():
    nest = Products(
        a=0,
        w=DIM,
        c=0,
        a_k=0,
        w_k=0,
        w_column=2 * DIM,
        c_column=DIM,
        rows=DIM,
        k=1,
        pieces=1,
        columns=2,
        last_depth=DIM,
        last_cols=DIM,
        accumulate=False,
    )
    loads = [Load(VIEW, rows(row * DIM)) for row in range(4)]
    assert needs(*loads, nest)[-1] == (0, 1, 3)
    assert needs(nest, Store(VIEW, sums(DIM)))[-1] == (0,)


def test_a_drain_needs_its_bias():
    bias = LoadParameters(View("b", 0, 0, 1, DIM), rows(3, Space.PARAMETERS, count=1))
    store = Store(VIEW, sums(0), Drain(bias_row=3))
    assert needs(bias, store, bias) == [(), (0,), (0, 1)]


def test_transforms_of_one_slot_keep_their_order():
    def transform(function, slot, target):
        settings = {"statistics": slot, "start": 1, "finish": 1}
        targets = (rows(target),) if target is not None else ()
        return Transform(function, sums(0), DIM, targets, settings=settings)

    first = transform(Function.MAXIMUM, 0, None)
    assert needs(first, transform(Function.EXPONENT, 0, 0))[-1] == (0,)
    assert needs(first, transform(Function.EXPONENT, DIM, 0))[-1] == ()
    adds = Transform(Function.RESIDUAL, sums(0), DIM, (rows(0),), residual=rows(DIM))
    assert needs(Load(VIEW, rows(DIM)), adds, Load(VIEW, rows(0)))[1:] == [(0,), (1,)]


def test_loads_come_after_stores_of_what_they_read():
    store = Store(VIEW, sums(0))
    overlap, beside = View("x", DIM - 1, 0, 1, 1), View("x", DIM, 0, 1, 1)
    assert needs(store, Load(overlap, rows(0)))[-1] == (0,)
    assert needs(store, Load(beside, rows(0)))[-1] == ()


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("accumulate", [False, True])
def test_a_nest_uses_the_rows_of_its_products(transposed, accumulate):
    nest = Products(
        a=3, w=100, c=5, a_k=7, w_k=DIM, w_column=40, c_column=9, a_piece=30, w_piece=20,
        rows=6, k=2, pieces=2, columns=3, last_depth=2, last_cols=1,
        accumulate=accumulate, w_transposed=transposed,
    )  # fmt: skip

    def used(kind):
        ranges = getattr(accesses(nest, DIM), kind)
        return {(space, row) for space, first, end in ranges for row in range(first, end)}

    read, written = set(), set()
    for op in nest.each(DIM):
        weights = op.last_cols if transposed else op.last_depth
        read |= {(Space.SCRATCHPAD, op.a + row) for row in range(op.rows)}
        read |= {(Space.SCRATCHPAD, op.w + row) for row in range(weights)}
        written |= {(Space.ACCUMULATOR, op.c + row) for row in range(op.rows)}
    assert used("writes") == written
    assert used("reads") == read | (written if accumulate else set())


def test_rows_that_join_are_one_range():
    nest = Products(
        a=0, w=2 * DIM, c=0, a_k=DIM, w_k=DIM, w_column=DIM, c_column=DIM,
        rows=DIM, k=1, pieces=1, columns=3, last_depth=DIM, last_cols=DIM, accumulate=False,
    )  # fmt: skip
    assert accesses(nest, DIM).writes == ((Space.ACCUMULATOR, 0, 3 * DIM),)


def test_a_load_waits_for_all_that_read_its_rows_but_for_the_products_before_the_last():
    load, store, w = Load(VIEW, rows(0)), Store(VIEW, rows(0)), Load(VIEW, rows(DIM))
    first, second = product(0, DIM, 0), product(0, DIM, DIM)
    assert needs(load, w, first, store, store, second, load)[-1] == (0, 3, 4, 5)
    part = Load(VIEW, rows(0, count=2))
    assert needs(load, store, part, part, load)[2:] == [(0, 1), (1, 2), (0, 1, 3)]


def test_rows_in_stretches_are_what_they_are_row_by_row():
    """Loads and stores of rows drawn at random, beside a memory that knows each row alone.

    Of a store some of whose rows have been written since, more loads may wait than must.
    """
    random, count = Random(0), 200
    ops, expected = [], []
    writer, readers = [-1] * count, [set() for _ in range(count)]
    for index in range(600):
        first, size = random.randrange(count - 20), random.randint(1, 20)
        touched = range(first, first + size)
        needs = {writer[row] for row in touched}
        if random.random() < 0.5:
            ops.append(Load(VIEW, rows(first, count=size)))
            needs = needs.union(*(readers[row] for row in touched))
            for row in touched:
                writer[row], readers[row] = index, set()
        else:
            ops.append(Store(replace(VIEW, tensor="y"), rows(first, count=size)))
            for row in touched:
                readers[row].add(index)
        expected.append(needs - {-1})
    for found, needs in zip(dependences(ops, CONFIG), expected, strict=True):
        assert all(isinstance(ops[each], Store) for each in {*found} ^ needs)
        assert needs <= {*found}
