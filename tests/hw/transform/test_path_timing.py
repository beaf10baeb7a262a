"""`TransformPath`: how its operations follow each other, and what it is told to wait for."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import pytest

from celosia.hw.transform.order import ALIKE_ROWS
from celosia.hw.transform.path import TransformPath, VectorState, in_flight
from celosia.hw.transform.reader import TransformReader
from celosia.hw.vector.background import Background
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import ElementType, Function
from celosia.isa.functions.table import FUNCTIONS
from celosia.isa.latencies import lane_latency
from celosia.isa.operations.semantics import step
from celosia.isa.operations.transforms import Transform
from celosia.isa.presets import PRESETS
from celosia.isa.state.state import ArchState
from tests.support.reused_simulator import shared_design
from tests.support.streams import simulate
from tests.support.transforms import accumulator_row, operation, scratchpad_row, transform

TINY = PRESETS["tiny"].with_values({"statistics_rows": 32, "vector_lanes": 4})
SOURCE, TARGET, STAGED = 16, 200, 1500


def scalings(function: Function, settings: dict[str, Any]) -> int:
    """How often an element is scaled."""
    return 0 if settings.get("type") == ElementType.INT32 else FUNCTIONS[function].scalings


@pytest.mark.parametrize(
    ("function", "settings", "steps"),
    [
        (Function.REQUANTIZE, {"type": ElementType.INT8}, 3 * 4),
        (Function.REQUANTIZE, {"type": ElementType.INT16}, 3 * 4 * 2),
        (Function.REQUANTIZE, {"type": ElementType.INT32}, 3 * 4 * 4),
        (Function.MAXIMUM, {"start": 1}, 3 * 4),
        (Function.EXPONENT, {"type": ElementType.UINT8, "start": 1}, 3 * (4 + 1)),
        (Function.GELU, {"type": ElementType.UINT8}, 3 * 4),
        (Function.SILU, {"type": ElementType.UINT8}, 3 * 4),
        (Function.HARDSWISH, {"type": ElementType.UINT8}, 3 * 4),
        (Function.MULTIPLY, {"type": ElementType.INT8}, 3 * 8 * 2),
        (Function.ROTATE, {"type": ElementType.INT8}, 3 * 8 * 4),
        (Function.RESIDUAL, {"type": ElementType.INT16}, 3 * 4 * 2),
    ],
)
def test_steps_follow_each_other_without_a_pause(function, settings, steps):
    """From the operation to its end, with memories that never stall."""
    cycles = cycles_of([(function, settings)], rows=3)
    ends = 0 if function is Function.MAXIMUM else in_flight(TINY, scalings(function, settings))
    assert steps + ends <= cycles <= steps + ends + 8


@pytest.mark.parametrize(
    ("function", "settings", "cycles"),
    [
        (Function.REQUANTIZE, {"type": ElementType.INT8}, 3 * 4 * 4),
        (Function.REQUANTIZE, {"type": ElementType.INT32}, 3 * 4 * 4),
        (Function.MAXIMUM, {"start": 1}, 3 * 4),
        (Function.EXPONENT, {"type": ElementType.UINT8, "start": 1}, 3 * (4 * 4 + 1)),
        (Function.RESIDUAL, {"type": ElementType.INT16}, 3 * 4 * 2 * 4),
    ],
)
def test_one_lane_takes_an_element_per_cycle(function, settings, cycles):
    """Maxima are still found of whole rows."""
    config = replace(TINY, vector_lanes=1)
    took = cycles_of([(function, settings)], rows=3, config=config)
    latency = TransformReader.LATENCY + lane_latency(scalings(function, settings))
    ends = 0 if function is Function.MAXIMUM else latency
    assert cycles + ends <= took <= cycles + ends + 8


MAXIMUM = (Function.MAXIMUM, {"start": 1})
EXPONENT = (Function.EXPONENT, {"type": ElementType.UINT8, "start": 1, "finish": 1})
CONTEXT = (Function.CONTEXT, {"type": ElementType.INT8})
SCALED = (Function.REQUANTIZE, {"type": ElementType.INT8, "bias": 1, "column_scale": 1})
GELU = (Function.GELU, {"type": ElementType.UINT8, "column_scale": 1})


@pytest.mark.parametrize(
    ("calls", "rows", "pause"),
    [
        ([SCALED, SCALED, MAXIMUM, SCALED], 3, 0),
        ([GELU, GELU, SCALED], 3, 10),  # What is not scaled first must not overtake.
        ([MAXIMUM, EXPONENT], ALIKE_ROWS, 0),
        ([MAXIMUM, EXPONENT], 3, 4),  # Until the last maximum is in its slot.
        ([SCALED, GELU], 3, 12),  # The scaler, which has results of the other one.
        # The divider, from the end of the first row on.
        ([EXPONENT, CONTEXT], ALIKE_ROWS, ALIKE_ROWS * (Background.CYCLES - 5) + 5 + 28),
    ],
)
def test_operations_follow_each_other(calls, rows, pause):
    """Without a pause where they share nothing, or the rows are far enough apart."""
    steps, ends = {Function.EXPONENT: 5 * rows}, in_flight(TINY, scalings(*calls[-1]))
    wanted = sum(steps.get(function, 4 * rows) for function, _ in calls) + ends + pause
    assert wanted <= cycles_of(calls, rows=rows) <= wanted + 8


def cycles_of(
    calls: list[tuple[Function, dict[str, Any]]], *, rows: int, config: AcceleratorConfig = TINY
) -> int:
    """From the first operation to the last one's end, with memories that never stall."""
    operations = operations_of(calls, rows)
    dut, took = shared_design(TransformPath, config), []

    async def run(ctx):
        for port in (dut.accumulator, dut.scratchpad, dut.parameters, dut.parameters2):
            ctx.set(port.ready, 1)
        ctx.set(dut.words.ready, 1)
        for op in operations:
            ctx.set(dut.op.payload, op)
            ctx.set(dut.op.valid, 1)
            await ctx.tick().until(dut.op.ready)
        ctx.set(dut.op.valid, 0)

    async def ends(ctx):
        cycle, begun = 0, None
        async for *_, ready, valid, done in ctx.tick().sample(dut.op.ready, dut.op.valid, dut.done):
            if begun is None and ready and valid:
                begun = cycle
            if done:
                took.append(cycle - 1 - (begun or 0))
            cycle += 1

    async def wait(ctx):
        while len(took) < len(operations):
            await ctx.tick()

    simulate(dut, run, wait, background=[ends])
    return took[-1]


def operations_of(
    calls: Sequence[tuple[Function, dict[str, Any]]], rows: int
) -> list[dict[str, Any]]:
    """Of matrices of 16 columns."""
    state, operations = ArchState.reset(TINY), []
    for function, settings in calls:
        commands = transform(
            function,
            shape=(rows, 16),
            source=(scratchpad_row if FUNCTIONS[function].staged else accumulator_row)(SOURCE),
            target=scratchpad_row(TARGET),
            rows={
                "source_stride": rows,
                "target_stride": rows,
                "residual": scratchpad_row(STAGED),
                "residual_stride": rows,
            },
            **settings,
        )
        for command in commands:
            done = step(command, state, TINY)
            state = done.state
            if isinstance(done.operation, Transform):
                operations.append(operation(done.operation, TINY))
    return operations


def test_what_it_waits_for_is_told():
    dut, told = shared_design(TransformPath, TINY), set()
    wide = (Function.REQUANTIZE, {"type": ElementType.INT32})
    ports = ("accumulator", "scratchpad", "parameters", "parameters2", "words")

    async def watch(ctx):
        async for *_, now in ctx.tick().sample(dut.state):
            told.add(VectorState(now))

    async def testbench(ctx):
        assert ctx.get(dut.state) == VectorState.IDLE
        for calls, rows, stalled, state in (
            ([wide], 3, None, VectorState.WORDS),
            ([SCALED], 20, "words", VectorState.ROOM),
            ([SCALED], 1, "accumulator", VectorState.BANK),
            ([MAXIMUM, EXPONENT], 3, None, VectorState.ORDER),
        ):
            told.clear()
            for name in ports:
                ctx.set(getattr(dut, name).ready, name != stalled)
            for op in operations_of(calls, rows):
                ctx.set(dut.op.payload, op)
                ctx.set(dut.op.valid, 1)
                await ctx.tick().until(dut.op.ready)
            ctx.set(dut.op.valid, 0)
            await ctx.tick().repeat(120 if stalled else 1)
            for name in ports:
                ctx.set(getattr(dut, name).ready, 1)
            await ctx.tick().until(dut.idle)
            await ctx.tick()
            waits = told - {VectorState.IDLE, VectorState.STEP, VectorState.STAGES}
            assert waits == {state}

    simulate(dut, testbench, background=[watch])


@pytest.mark.parametrize("lanes", [4, 1])
def test_the_function_told_is_that_of_the_step_that_enters(lanes):
    """To the last part of a step, however soon another function is next."""
    calls, rows = [MAXIMUM, SCALED, EXPONENT, SCALED, MAXIMUM], 3
    dut, told = shared_design(TransformPath, replace(TINY, vector_lanes=lanes)), []

    async def watch(ctx):
        async for *_, state, function in ctx.tick().sample(dut.state, dut.function):
            if VectorState(state) is VectorState.STEP:
                told.append(Function(function))

    async def testbench(ctx):
        for name in ("accumulator", "scratchpad", "parameters", "parameters2", "words"):
            ctx.set(getattr(dut, name).ready, 1)
        for op in operations_of(calls, rows):
            ctx.set(dut.op.payload, op)
            ctx.set(dut.op.valid, 1)
            await ctx.tick().until(dut.op.ready)
        ctx.set(dut.op.valid, 0)
        await ctx.tick().until(dut.idle)

    simulate(dut, testbench, background=[watch])
    parts = TINY.dim // lanes
    entering = {
        Function.MAXIMUM: 4 * rows,  # Of whole rows.
        Function.REQUANTIZE: 4 * rows * parts,
        Function.EXPONENT: (4 * parts + 1) * rows,
    }
    found = [(function, len([*cycles])) for function, cycles in groupby(told)]
    assert found == [(function, entering[function]) for function, _ in calls]
