"""`TransformPath` against the functional model: every function, under stalls of every memory."""

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from celosia.hw.transform.path import TransformPath
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import CONFIG_EXPONENT, CONFIG_GELU, ElementType, Function
from celosia.isa.execution.machine import Machine
from celosia.isa.operations.semantics import step
from celosia.isa.operations.transforms import Transform
from celosia.isa.presets import PRESETS
from celosia.isa.state.state import ArchState
from celosia.sim.devices.flat_memory import FlatMemory
from tests.support.reused_simulator import shared_design
from tests.support.streams import receive, simulate, sometimes
from tests.support.transforms import accumulator_row, operation, scratchpad_row, transform

TINY = PRESETS["tiny"].with_values({"normalization": True, "statistics_rows": 32})
CONFIGS = [
    TINY,
    AcceleratorConfig(dim=2, accumulator_kib=8, normalization=True, statistics_rows=32),
    AcceleratorConfig(dim=8, normalization=True, statistics_rows=32),
]
SOURCE, TARGET, TARGET2, STAGED = 16, 200, 900, 1500
COLUMN_SCALE = np.float32(0.003)
OTHER_EXPONENT = {
    "ln2": 1420,
    "inverse_ln2": 11815,
    "b": 5544,
    "c": 11710980,
    "shift": 8,
    "lowest": 44018,
    "unit": 46760,
}
"""Constants of scores with 11 fraction bits, and of numerators half as large."""


def transforms(config: AcceleratorConfig, rng: random.Random) -> list[Transform]:
    """Each function once and more, of matrices of random sizes, in an order that makes sense."""
    height, width = rng.choice([1, 2, 5, 16]), rng.randint(1, 5 * config.dim)
    shape = {"shape": (height, width), "source": accumulator_row(SOURCE)}
    places = {"target": scratchpad_row(TARGET), "target2": scratchpad_row(TARGET2)}
    rows = {
        "source_stride": height + 1,
        "target_stride": height,
        "residual_stride": height,
        "residual": scratchpad_row(STAGED),
        "bias_row": 3,
        "scale_row": 40,
    }
    norm = {
        "two": 1,
        "type2": ElementType.INT16,
        "shift": 18,
        "shift2": 11,
        "target2_stride": height + 2,
        "parameter_row": 20,
        "channels": width,
        "epsilon": rng.choice([0, rng.getrandbits(40) >> rng.randrange(40)]),
        "rms": rng.randrange(2),
    }
    mask = {
        "keys": rng.randint(0, width),
        "causal": rng.randrange(2),
        "first_row": rng.randrange(4),
        "window": rng.choice([0, 1, rng.randrange(width)]),
        "ring": rng.choice([0, rng.randint(1, width)]),
    }
    common: dict[str, Any] = (
        shape | places | {"rows": rows, "norm": norm, "statistics": rng.randrange(8)}
    )
    scores = {"scale": 2.0**-18, "bias": rng.randrange(2), "mask": mask}
    staged = {"source": scratchpad_row(STAGED), "rows": rows | {"source_stride": height}}
    kind = rng.choice([ElementType.INT8, ElementType.UINT8, ElementType.INT16])
    calls: list[tuple[Function, dict[str, Any]]] = [
        (Function.MAXIMUM, scores | {"start": 1}),
        (Function.EXPONENT, scores | {"start": 1, "finish": 1, "type": ElementType.UINT8}),
        (
            Function.EXPONENT,
            scores
            | {"source": scratchpad_row(STAGED), "scale": 2.0**-21}
            | {"start": rng.randrange(2), "finish": 1, "type": ElementType.UINT8},
        ),
        (Function.CONTEXT, {"type": kind, "scale": 1e-9, "relu": rng.randrange(2)}),
        (Function.SUM, scores | {"start": 1, "finish": 1}),
        (Function.PROBABILITY, scores | {"type": kind}),
        (Function.REQUANTIZE, {"type": ElementType.INT32, "bias": 1}),
        (Function.REQUANTIZE, {"type": kind, "column_scale": 1, "zero_point": 9}),
        (Function.GELU, {"type": kind, "scale": 1e-5, "scale2": 3e-7, "zero_point": 4}),
        (Function.SILU, {"type": kind, "column_scale": 1, "scale2": 2e-7, "bias": 1}),
        (Function.HARDSWISH, {"type": kind, "scale": 1e-5, "scale2": 3e-6, "zero_point": 6}),
        (
            Function.MULTIPLY,
            staged | {"type": kind, "scale2": 2.0 ** -rng.randrange(10, 24), "column_scale": 1},
        ),
        (
            Function.ROTATE,
            staged
            | {"type": kind, "scale2": 2.0 ** -rng.randrange(9), "bias": 1, "relu": 1}
            | {"shape": (height, config.dim * rng.randint(1, 5))},
        ),
        (
            Function.RESIDUAL,
            {"type": ElementType.INT16, "scale": 1e-5, "scale2": 0.7, "bias": 1, "moments": 1}
            | {"start": 1, "finish": 1},
        ),
        (Function.MOMENTS, staged | {"start": 1, "finish": 1}),
        (Function.LAYERNORM, staged | {"type": ElementType.INT8}),
    ]
    state, made = ArchState.reset(config), []
    for function, settings in calls:
        for command in transform(function, **(common | settings)):
            done = step(command, state, config)
            assert not done.cause, (function, done.cause)
            state = done.state
            if isinstance(done.operation, Transform):
                made.append(done.operation)
    return made


class Memories:
    """What the path reads and writes, with the contents of `machine` at first."""

    def __init__(self, machine: Machine):
        self.scratchpad = machine.scratchpad.view(np.uint8).copy()
        self.accumulator = machine.accumulator.copy()
        self.parameters = machine.parameters.copy()

    async def serve(self, ctx, port, memory: np.ndarray[Any, Any], busy: Any) -> None:
        """Grant reads while not `busy`; data two cycles later."""
        granted = None
        while True:
            ctx.set(port.ready, not busy())
            _, _, valid, ready, row = await ctx.tick().sample(port.valid, port.ready, port.row)
            if granted is not None:
                ctx.set(port.data, granted)
            granted = part_of(memory, row, len(port.data)) if valid and ready else None

    async def take(self, ctx, port, stall: Any) -> None:
        """Write words."""
        while True:
            (word,) = await receive(ctx, port, 1, stall)
            for column in range(self.scratchpad.shape[1]):
                if word.mask >> column & 1:
                    self.scratchpad[word.row, column] = word.data[column]


def part_of(memory: np.ndarray[Any, Any], row: int, size: int) -> list[int]:
    """What a port of `size` elements reads: numbers of rows count its parts of each."""
    first = row * size % memory.shape[1]
    return [int(x) for x in memory[row * size // memory.shape[1], first : first + size]]


def prepared(config: AcceleratorConfig, seed: int) -> Machine:
    machine = Machine(config, FlatMemory(0, 64), seed)
    machine.parameters[40:60] = COLUMN_SCALE.view(np.int32)
    machine.parameters[20:40] >>= 4
    return machine


@pytest.mark.parametrize(
    ("dim", "lanes", "seed", "follow"),
    [
        # As many lanes as columns, half as many, and a quarter; the other sizes at night.
        (2, 2, 7, True),  # Few rows.
        pytest.param(2, 2, 0, True, marks=pytest.mark.nightly),
        (2, 1, 1, False),
        pytest.param(4, 4, 0, False, marks=pytest.mark.nightly),
        pytest.param(4, 4, 0, True, marks=pytest.mark.nightly),
        (4, 1, 1, True),
        pytest.param(4, 2, 3, True, marks=pytest.mark.nightly),
        pytest.param(8, 2, 2, True, marks=pytest.mark.nightly),
    ],
)
def test_every_function_under_stalls(dim, lanes, seed, follow):
    """One by one, or each right behind the one before it; none writes another one's source."""
    (config,) = (config for config in CONFIGS if config.dim == dim)
    config = replace(config, vector_lanes=lanes)
    rng = random.Random(seed)
    operations = [one for _ in range(1 + follow) for one in transforms(config, rng)]
    stalls = 0.3 * rng.randrange(2) if follow else 0.3
    run_all(config, prepared(config, seed), operations, seed, stalls=stalls, follow=follow)


LAYERNORM = (Function.LAYERNORM, {"type": ElementType.INT8, "source": scratchpad_row(STAGED)})


@pytest.mark.parametrize(
    "names",
    [
        ["maximum", "exponent", "context"],
        ["scaled", "gelu"],
        ["gelu", "other_gelu"],
        ["maximum", "exponent", "silu", "other_silu"],
        ["maximum", "other_maximum", "exponent", "other_exponent", "silu"],
        ["staged_sums", "layernorm", "gelu", "silu"],
        ["staged_sums", "layernorm", "biased"],
        ["staged_sums", "scaled", "layernorm"],
        ["maximum", "wide", "exponent"],  # Which begins with a step without results.
    ],
)
@pytest.mark.parametrize(("lanes", "pause"), [(4, 0), (4, 1), (4, 7), (1, 0), (1, 1)])
def test_what_depends_on_the_one_before_waits(names, lanes, pause):
    """Rows of a few steps, so that each operation meets the one before it in the lanes."""
    config = replace(TINY, vector_lanes=lanes)
    machine, state, made = prepared(config, 0), ArchState.reset(config), []
    machine.parameters[:] = np.random.default_rng(1).integers(-1000, 1000, machine.parameters.shape)
    machine.parameters[40:60] = np.arange(80, dtype=np.float32).reshape(20, 4).view(np.int32) + 1
    calls: dict[str, tuple[Function, dict[str, Any]]] = {
        "maximum": (Function.MAXIMUM, {"start": 1, "scale": 2.0**-20}),
        "exponent": (Function.EXPONENT, {"start": 1, "finish": 1, "scale": 2.0**-20}),
        "other_maximum": (Function.MAXIMUM, {"start": 1, "scale": 2.0**-20, "statistics": 16}),
        "other_exponent": (
            Function.EXPONENT,
            {"start": 1, "finish": 1, "scale": 2.0**-20, "statistics": 16},
        ),
        "context": (Function.CONTEXT, {"scale": 1e-9}),
        "wide": (Function.REQUANTIZE, {"type": ElementType.INT32}),
        "scaled": (Function.REQUANTIZE, {"column_scale": 1}),
        "biased": (Function.REQUANTIZE, {"bias": 1, "scale": 1e-8}),
        "gelu": (Function.GELU, {"column_scale": 1, "bias": 1, "scale2": 1e-7}),
        "other_gelu": (Function.GELU, {"scale": 1e-5, "scale2": 1e-7}),
        "silu": (Function.SILU, {"scale": 1e-5, "scale2": 1e-7}),
        "other_silu": (Function.SILU, {"scale": 1e-5, "scale2": 1e-7}),
        "layernorm": LAYERNORM,
        "staged_sums": (
            Function.MOMENTS,
            {"start": 1, "finish": 1, "source": scratchpad_row(STAGED)},
        ),
    }
    for number, name in enumerate(names):
        function, settings = calls[name]
        kind = ElementType.UINT8 if function is Function.EXPONENT else ElementType.INT8
        commands = transform(
            function,
            shape=(1 + pause, 4 * (1 + pause % 2)),
            target=scratchpad_row(TARGET + 100 * number),
            rows={"source_stride": 9, "target_stride": 9, "bias_row": 3, "scale_row": 40 + number},
            norm={"parameter_row": 20, "shift": 12, "channels": 4 * (1 + pause % 2)},
            **({"source": accumulator_row(SOURCE), "type": kind} | settings),
        )
        if name == "other_gelu":
            commands.insert(0, CONFIG_GELU.encode(b=1000, c=600000, shift=6))
        if name in {"other_silu", "other_exponent"}:
            commands.insert(0, CONFIG_EXPONENT.encode(**OTHER_EXPONENT))
        for command in commands:
            done = step(command, state, config)
            assert not done.cause, (name, done.cause)
            state = done.state
            if isinstance(done.operation, Transform):
                made.append(done.operation)
    run_all(config, machine, made, 0, stalls=0, follow=True)


def run_all(
    config: AcceleratorConfig,
    machine: Machine,
    operations: list[Transform],
    seed: int,
    *,
    stalls: float,
    follow: bool,
) -> None:
    """Run `operations` on a path and on `machine`; the scratchpads must agree."""
    memories, dut = Memories(machine), shared_design(TransformPath, config)
    over = 0

    async def ends(ctx):
        nonlocal over
        async for *_, done in ctx.tick().sample(dut.done):
            over += done

    def check(number: int) -> None:
        function = Function(operations[number].setting("function")).name
        different = np.argwhere(memories.scratchpad != machine.scratchpad.view(np.uint8))
        assert not different.size, (number, function, different[:4].tolist())

    async def run(ctx):
        for number, one in enumerate(operations):
            while over < number and not follow:
                await ctx.tick()
            if not follow and number:
                check(number - 1)
            ctx.set(dut.op.payload, operation(one, config))
            ctx.set(dut.op.valid, 1)
            await ctx.tick().until(dut.op.ready)
            ctx.set(dut.op.valid, 0)
            machine.execute(one)
        await ctx.tick().until(dut.idle)
        await ctx.tick()
        assert over == len(operations)
        check(len(operations) - 1)

    def often(number: int) -> Any:
        chance = random.Random(10 * seed + number)
        return lambda: chance.random() < stalls

    async def accumulator(ctx):
        await memories.serve(ctx, dut.accumulator, memories.accumulator, often(1))

    async def scratchpad(ctx):
        await memories.serve(ctx, dut.scratchpad, memories.scratchpad, often(2))

    async def parameters(ctx):
        await memories.serve(ctx, dut.parameters, memories.parameters, lambda: False)

    async def parameters2(ctx):
        await memories.serve(ctx, dut.parameters2, memories.parameters, lambda: False)

    async def words(ctx):
        await memories.take(ctx, dut.words, sometimes(seed))

    async def words2(ctx):
        await memories.take(ctx, dut.words2, sometimes(seed + 1))

    background = [ends, accumulator, scratchpad, parameters, parameters2, words, words2]
    simulate(dut, run, background=background, deadline=100_000)
