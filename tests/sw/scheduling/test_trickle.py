"""Drains and normalizations come between the products of what follows."""

import pytest

from celosia.isa.encoding import Function
from celosia.sw.ir.graph import View
from celosia.sw.ir.program import Load, LocalRows, Op, Products, Space, Store, Transform
from celosia.sw.models.cases import encoder_layer_case, random_quantized_encoder
from celosia.sw.planning.choices import DEFAULT
from celosia.sw.reference.encoder import EncoderShape
from celosia.sw.scheduling.schedule import schedule
from celosia.sw.scheduling.trickle import array_cycles, trickled
from tests.support import nests
from tests.support.levels import CONFIGS
from tests.sw.scheduling.expansions import program

DIM, ROWS = 16, 16
SUMS = LocalRows(Space.ACCUMULATOR, 0, ROWS, 1, ROWS)
BYTES = LocalRows(Space.SCRATCHPAD, 0, ROWS, 1, ROWS)
VIEW = View("y", 0, 0, ROWS, DIM)


def product(rows: int = ROWS) -> Products:
    return nests.product(0, 0, 0, rows, DIM, DIM)


def drain() -> Transform:
    return Transform(function=Function.REQUANTIZE, source=SUMS, cols=DIM, targets=(BYTES,))


def norm(slot: int = 0) -> Transform:
    settings = {"statistics": slot}
    return Transform(function=Function.LAYERNORM, source=BYTES, cols=DIM, settings=settings)


def order(ops: list[Op], needs: dict[int, tuple[int, ...]] | None = None) -> list[int]:
    found = trickled(ops, [(needs or {}).get(index, ()) for index in range(len(ops))], DIM)
    assert sorted(found) == list(range(len(ops)))
    return found


def test_the_first_drain_comes_at_once_and_one_behind_each_product():
    ops: list[Op] = [product(64), drain(), drain(), drain(), product(64), product(64), product(64)]
    assert order(ops) == [0, 1, 4, 2, 5, 3, 6]


def test_a_drain_is_not_due_before_the_one_ahead_of_it_is_over():
    ops: list[Op] = [product(), drain(), drain(), *[product()] * 6]
    # A drain of 16 rows takes 64 cycles: four products.
    assert order(ops) == [0, 1, 3, 4, 5, 6, 2, 7, 8]


def test_stores_stay_with_their_transform_and_loads_with_their_step():
    load = Load(VIEW, BYTES)
    ops: list[Op] = [
        *(product(64), load, drain(), Store(VIEW, BYTES), load, drain(), Store(VIEW, BYTES)),
        *(product(64), product(64)),
    ]
    assert order(ops) == [0, 1, 2, 3, 7, 4, 5, 6, 8]


def test_what_is_needed_comes_before_and_takes_the_drains_before_it_along():
    ops: list[Op] = [product(1), drain(), drain(), drain(), product(1)]
    assert order(ops, {4: (2,)}) == [0, 1, 2, 4, 3]
    assert order(ops, {4: (3,)}) == [0, 1, 2, 3, 4]


def test_normalizations_come_late_and_drains_pass_them():
    ops: list[Op] = [product(64), drain(), norm(), product(1500), drain(), product(1500)]
    # Root and reciprocal of 16 rows, and what is issued ahead of the array.
    assert order(ops) == [0, 1, 3, 4, 5, 2]
    assert order(ops, {3: (2,)}) == [0, 1, 2, 3, 4, 5]


def test_a_normalization_takes_all_before_it_along():
    ops: list[Op] = [product(1), drain(), drain(), norm(), product(1)]
    assert order(ops, {4: (3,)}) == [0, 1, 2, 3, 4]


def test_statistics_are_those_of_two_blocks_at_most():
    ops: list[Op] = [product(64), drain(), norm(0), product(64), drain(), norm(64), product(64)]
    assert order(ops) == [0, 1, 3, 4, 2, 6, 5]


@pytest.mark.parametrize("function", [Function.MAXIMUM, Function.SUM, Function.EXPONENT])
def test_what_the_next_step_waits_for_is_not_put_off(function):
    late = Transform(function=function, source=SUMS, cols=DIM, settings={"statistics": 0})
    assert order([product(64), late, late, product(64)]) == [0, 1, 2, 3]


def test_moments_of_rows_from_memory_come_one_by_one():
    moments = Transform(
        function=Function.MOMENTS, source=SUMS, cols=DIM, settings={"statistics": 0}
    )
    ops: list[Op] = [product(64), moments, moments, norm(0), *[product(1500)] * 4]
    assert order(ops) == [0, 4, 1, 5, 2, 6, 3, 7]
    assert order(ops, {4: (3,)}) == [0, 1, 2, 3, 4, 5, 6, 7]


def test_in_an_encoder_products_go_on_while_rows_are_normalized():
    shape = EncoderShape(layers=2, width=32, heads=1, hidden=96)
    case = encoder_layer_case(random_quantized_encoder(shape, 1), [150], seed=1)
    found = schedule(program(case, CONFIGS["base"], DEFAULT), CONFIGS["base"])
    ops = [written.op for written in found]
    products = [
        products_until_normalized(ops[index:])
        for index, op in enumerate(ops)
        if isinstance(op, Transform) and op.settings.get("moments") and op.settings["finish"]
    ]
    assert len(products) == 7, "three blocks of rows twice, the last one of all in two parts"
    assert sum(count > 0 for count in products) >= len(products) - 1


def products_until_normalized(ops: list[Op]) -> int:
    """How many there are until the statistics that the first operation completes are used."""
    (slot,) = (op.settings["statistics"] for op in ops[:1] if isinstance(op, Transform))
    end = next(
        index
        for index, op in enumerate(ops)
        if isinstance(op, Transform)
        and op.function is Function.LAYERNORM
        and op.settings["statistics"] == slot
    )
    return sum(isinstance(op, Products) for op in ops[:end])


def test_the_array_works_on_products_alone():
    assert [array_cycles(op) for op in (product(9), drain(), Store(VIEW, BYTES))] == [9, 0, 0]
