"""What must stay before what."""

from celosia.isa.encoding import Function
from celosia.isa.presets import resolve_config
from celosia.sw.ir.graph import View
from celosia.sw.ir.program import (
    Drain,
    Load,
    LoadParameters,
    LocalRows,
    Multiply,
    Products,
    Space,
    Store,
    Transform,
)
from celosia.sw.scheduling.dependences import dependences

CONFIG = resolve_config("tiny")
DIM = CONFIG.dim
VIEW = View("x", 0, 0, DIM, DIM)


def rows(row, space=Space.SCRATCHPAD, count=DIM, blocks=1, pitch=None):
    return LocalRows(space, row, count, blocks, pitch or count)


def sums(row, blocks=1):
    return rows(row, Space.ACCUMULATOR, blocks=blocks)


def product(a, w, c, *, accumulate=False):
    return Multiply(a, w, c, DIM, DIM, DIM, accumulate)


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
