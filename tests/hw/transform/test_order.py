"""`TransformOrder`: who waits for whom, and for how long."""

from dataclasses import replace
from typing import Any

import pytest

from celosia.hw.transform.order import TransformOrder
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Function
from tests.support.reused_simulator import shared_design
from tests.support.streams import simulate

CONFIG = AcceleratorConfig(dim=4, scratchpad_kib=1, accumulator_kib=1, normalization=True)
# What `tests/hw/transform/test_path.py` shows to be enough; fewer cycles differ there in some case.
PARAMETERS_APART = 12
CONSTANTS_USED = 23  # 2 to read, 10 to scale, 11 of the polynomial and the numerators.
MAXIMUM = 3 + 1  # log4(dim).
SUMS_WRITTEN = 10 + 4  # To scale, and to count.
ALIKE_ROWS = 16
FINISHING = 4


def op(function: Function, **fields: Any) -> dict[str, Any]:
    return {"function": function, "rows": 4, "cols": 4, "norm": {"channels": 4}} | fields


def finishing(slot: int, **fields: Any) -> dict[str, Any]:
    return op(Function.EXPONENT, start=1, finish=1, slot=slot, **fields)


async def take(ctx, dut: TransformOrder, one: dict[str, Any]) -> None:
    """Begin `one`, and accept its only step in the next cycle."""
    ctx.set(dut.op, one)
    ctx.set(dut.taken, 1)
    await ctx.tick()
    ctx.set(dut.taken, 0)
    ctx.set(dut.accepted, 1)
    ctx.set(dut.last, 1)
    await ctx.tick()
    ctx.set(dut.accepted, 0)


async def waiting(ctx, dut: TransformOrder, one: dict[str, Any], most: int = 100) -> int:
    """Cycles for which `one` waits."""
    ctx.set(dut.op, one)
    for cycles in range(most):
        if not ctx.get(dut.waits):
            return cycles
        await ctx.tick()
    return most


@pytest.mark.parametrize(
    ("first", "second", "cycles"),
    [
        (op(Function.REQUANTIZE, column_scale=1), op(Function.REQUANTIZE, column_scale=1), 0),
        (op(Function.GELU, column_scale=1), op(Function.REQUANTIZE, column_scale=1), 0),
        (op(Function.REQUANTIZE, bias=1), op(Function.LAYERNORM), 0),
        (
            op(Function.REQUANTIZE, column_scale=1),
            op(Function.GELU, column_scale=1),
            0,
        ),
        (op(Function.CONTEXT, column_scale=1), op(Function.LAYERNORM), PARAMETERS_APART),
        (op(Function.LAYERNORM), op(Function.REQUANTIZE, bias=1), PARAMETERS_APART),
        (op(Function.LAYERNORM), op(Function.RESIDUAL, column_scale=1), PARAMETERS_APART),
        (op(Function.LAYERNORM), op(Function.LAYERNORM), 0),
        (op(Function.GELU), op(Function.GELU), 0),
        (
            op(Function.GELU),
            op(Function.GELU, constants={"gelu": {"b": 1}}),
            CONSTANTS_USED,
        ),
        (op(Function.REQUANTIZE), op(Function.GELU, constants={"gelu": {"b": 1}}), 0),
        (op(Function.SILU), op(Function.SILU, constants={"exponent": {"b": 1}}), CONSTANTS_USED),
        (op(Function.HARDSWISH), op(Function.SILU, constants={"exponent": {"b": 1}}), 0),
        (op(Function.SILU, column_scale=1), op(Function.LAYERNORM), 0),
        (op(Function.MAXIMUM), op(Function.EXPONENT), MAXIMUM),
        (op(Function.MAXIMUM, slot=4), op(Function.EXPONENT, slot=1), MAXIMUM),
        (op(Function.MAXIMUM, slot=4), op(Function.EXPONENT, slot=0), 0),
        (op(Function.MAXIMUM, rows=ALIKE_ROWS), op(Function.EXPONENT, rows=ALIKE_ROWS), 0),
        (op(Function.MOMENTS), op(Function.MOMENTS), SUMS_WRITTEN),
        (op(Function.RESIDUAL), op(Function.MOMENTS), 0),
        (op(Function.RESIDUAL, moments=1), op(Function.MOMENTS), SUMS_WRITTEN),
    ],
)
def test_one_operation_waits_for_another(first, second, cycles):
    async def testbench(ctx):
        await take(ctx, dut, first)
        assert await waiting(ctx, dut, second) == cycles

    dut = shared_design(TransformOrder, CONFIG)
    simulate(dut, testbench)


@pytest.mark.parametrize(
    ("first", "second", "cycles"),
    [
        (op(Function.CONTEXT, column_scale=1), op(Function.LAYERNORM), PARAMETERS_APART + 3),
        (
            op(Function.GELU),
            op(Function.GELU, constants={"gelu": {"b": 1}}),
            CONSTANTS_USED + 3,
        ),
        (op(Function.MAXIMUM), op(Function.EXPONENT), MAXIMUM),
        (op(Function.MOMENTS), op(Function.MOMENTS), SUMS_WRITTEN + 3),
    ],
)
def test_one_lane_keeps_operations_further_apart(first, second, cycles):
    """By the cycles in which the parts of a step enter behind the first one."""

    async def testbench(ctx):
        await take(ctx, dut, first)
        assert await waiting(ctx, dut, second) == cycles

    dut = shared_design(TransformOrder, replace(CONFIG, vector_lanes=1))
    simulate(dut, testbench)


def test_a_last_step_that_is_not_accepted_keeps_others_waiting():
    dut = shared_design(TransformOrder, CONFIG)

    async def testbench(ctx):
        ctx.set(dut.op, op(Function.MAXIMUM))
        ctx.set(dut.taken, 1)
        await ctx.tick()
        ctx.set(dut.taken, 0)
        assert await waiting(ctx, dut, op(Function.EXPONENT)) == 100

    simulate(dut, testbench)


@pytest.mark.parametrize(
    "reader", [op(Function.CONTEXT, slot=11), finishing(8), op(Function.LAYERNORM, slot=5, rows=7)]
)
def test_facts_are_there_when_those_of_all_rows_are(reader):
    dut = shared_design(TransformOrder, CONFIG)

    async def testbench(ctx):
        await take(ctx, dut, finishing(0))
        await take(ctx, dut, finishing(8))
        for _ in range(8):
            assert await waiting(ctx, dut, op(Function.CONTEXT, slot=4)) == 0
            assert await waiting(ctx, dut, reader, 40) == 40
            ctx.set(dut.derived, 1)
            await ctx.tick()
            ctx.set(dut.derived, 0)
        assert await waiting(ctx, dut, reader) == 0

    simulate(dut, testbench)


def test_only_so_many_finish_at_once_and_of_one_kind():
    dut = shared_design(TransformOrder, CONFIG)
    moments = op(Function.MOMENTS, start=1, finish=1, slot=100)

    async def testbench(ctx):
        for number in range(FINISHING):
            assert await waiting(ctx, dut, finishing(16 * number), 40) == 0
            await take(ctx, dut, finishing(16 * number))
        for other in (finishing(100), moments):
            assert await waiting(ctx, dut, other, 40) == 40
        ctx.set(dut.derived, 1)
        await ctx.tick().repeat(4)
        assert await waiting(ctx, dut, finishing(100), 40) == 0
        assert await waiting(ctx, dut, moments, 40) == 12
        ctx.set(dut.derived, 0)
        await take(ctx, dut, moments)
        assert ctx.get(dut.norm.channels) == 4
        assert await waiting(ctx, dut, moments | {"slot": 50}, 40) == 0
        for norm in ({"channels": 5}, {"channels": 4, "epsilon": 1}, {"channels": 4, "rms": 1}):
            assert await waiting(ctx, dut, moments | {"slot": 50, "norm": norm}, 40) == 40

    simulate(dut, testbench)


def test_constants_stay_while_operations_without_any_follow():
    dut = shared_design(TransformOrder, CONFIG)
    curved = op(Function.GELU, constants={"gelu": {"b": 7}})

    async def testbench(ctx):
        await take(ctx, dut, curved)
        await take(ctx, dut, op(Function.REQUANTIZE, constants={"gelu": {"b": 1}}))
        assert ctx.get(dut.constants.gelu.b) == 7
        assert await waiting(ctx, dut, curved) == 0

    simulate(dut, testbench)


@pytest.mark.parametrize("slots", [(4, 0), (0, 4)])
def test_maxima_of_the_operation_before_the_last_one_are_waited_for(slots):
    dut = shared_design(TransformOrder, CONFIG)

    async def testbench(ctx):
        for slot in slots:
            await take(ctx, dut, op(Function.MAXIMUM, slot=slot))
        assert await waiting(ctx, dut, op(Function.EXPONENT, slot=slots[0])) == MAXIMUM

    simulate(dut, testbench)
