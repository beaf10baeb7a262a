"""`PassingControl`: who may pass when, and what is known of rows.

What becomes of the rows: `tests/system/test_bert.py`.
"""

import random
from dataclasses import dataclass

import numpy as np
import pytest

from celosia.hw.gemmini.norms.factor import FactorUnit
from celosia.hw.gemmini.norms.lanes import BertLanes, Curve
from celosia.hw.gemmini.norms.passing import PassingControl
from celosia.hw.memory.read_port import LOCAL_READ_LATENCY
from celosia.isa.bert import STATISTICS, Activation, NormCommand
from celosia.isa.config import AcceleratorConfig
from celosia.isa.numerics import (
    INT32_MIN,
    inverse_deviation,
    inverse_sum,
    truncated_mean,
    wrap32,
)
from tests.support.streams import simulate

INSIDE = LOCAL_READ_LATENCY + BertLanes.LATENCY


CONSTANTS = {"qb": 5, "qc": 6, "ln2": 7, "ln2_inverse": 8}


def offer(ctx, dut, command=NormCommand.RESET, activation=Activation.NONE, **fields) -> None:
    passing = {"passes": 1, "command": command.value, "activation": activation.value}
    passing |= {"constants": CONSTANTS}
    read = {"passing": passing, "elements": 4, "last_in_row": 1, "last": 1, "scale": 0x3F800000}
    for name, value in (read | fields).items():
        ctx.set(dut.read[name], value)


async def grant(ctx, dut) -> None:
    ctx.set(dut.granted, 1)
    await ctx.tick()
    ctx.set(dut.granted, 0)


async def wait(ctx, dut) -> int:
    cycles = 1
    while not ctx.get(dut.free):
        await ctx.tick()
        cycles += 1
    return cycles


def test_a_special_row_waits_for_those_before_it_and_nothing_follows_it():
    dut = PassingControl(AcceleratorConfig(dim=4))

    async def testbench(ctx):
        offer(ctx, dut)
        assert ctx.get(dut.free)
        await grant(ctx, dut)
        assert ctx.get(dut.free)
        offer(ctx, dut, activation=Activation.IGELU)
        assert await wait(ctx, dut) == INSIDE + 1
        await grant(ctx, dut)
        assert ctx.get(dut.curve) == Curve.GELU
        assert {name: ctx.get(dut.constants[name]) for name in CONSTANTS} == CONSTANTS
        offer(ctx, dut)
        assert await wait(ctx, dut) == PassingControl.SPECIAL_CYCLES
        assert not ctx.get(dut.silent)

    async def watch(ctx):
        async for _, _, done in ctx.tick().sample(dut.done):
            assert not done, "rows that leave are done when they are in memory"

    simulate(dut, testbench, background=[watch])


def test_what_is_known_of_a_row_is_forgotten_when_it_leaves():
    dut = PassingControl(AcceleratorConfig(dim=4))

    async def testbench(ctx):
        for row, leaves in (([9, 2, 3, 4], True), ([-5, -6, -7, -8], False)):
            ctx.set(dut.row, row)
            offer(ctx, dut, NormCommand.MAX)
            await grant(ctx, dut)
            await wait(ctx, dut)
            if leaves:
                offer(ctx, dut)
                await grant(ctx, dut)
        offer(ctx, dut, NormCommand.SUM_EXP)
        await wait(ctx, dut)
        await grant(ctx, dut)
        assert ctx.get(dut.offset) == -5

    simulate(dut, testbench)


def test_rows_behind_a_special_one_have_neither_its_offset_nor_its_curve():
    dut = PassingControl(AcceleratorConfig(dim=4))

    async def testbench(ctx):
        ctx.set(dut.row, [9, 9, 9, 9])
        for command in (NormCommand.MAX, NormCommand.SUM_EXP):
            offer(ctx, dut, command)
            await grant(ctx, dut)
            await wait(ctx, dut)
        assert (ctx.get(dut.offset), ctx.get(dut.curve)) == (9, Curve.EXPONENTIAL)
        offer(ctx, dut)
        await grant(ctx, dut)
        assert (ctx.get(dut.offset), ctx.get(dut.curve)) == (0, Curve.LINEAR)

    simulate(dut, testbench)


def test_what_ends_a_row_takes_as_long_as_the_factor():
    dut = PassingControl(AcceleratorConfig(dim=4))

    async def testbench(ctx):
        offer(ctx, dut, NormCommand.MEAN, elements=3)
        assert ctx.get(dut.silent)
        ctx.set(dut.row, [7, -2, 1, 100])  # The last element is not of the row.
        await grant(ctx, dut)
        done = 0
        for _ in range(INSIDE + FactorUnit.MOST_CYCLES):
            done += ctx.get(dut.done)
            await ctx.tick()
        assert done == 1
        offer(ctx, dut, activation=Activation.LAYERNORM)
        assert ctx.get(dut.free)
        await grant(ctx, dut)
        assert ctx.get(dut.offset) == 2  # 6 / 3
        ctx.set(dut.granted, 0)

    simulate(dut, testbench)


def test_before_the_last_block_nothing_is_made_of_a_total():
    dut = PassingControl(AcceleratorConfig(dim=4))

    async def testbench(ctx):
        offer(ctx, dut, NormCommand.INV_STDDEV, last_in_row=0, last=0)
        await grant(ctx, dut)
        assert await wait(ctx, dut) == PassingControl.SPECIAL_CYCLES
        assert ctx.get(dut.scale) == 0x3F800000

    simulate(dut, testbench)


NOT_YET = {
    NormCommand.MEAN: NormCommand.SUM,
    NormCommand.INV_STDDEV: NormCommand.VARIANCE,
    NormCommand.INV_SUM_EXP: NormCommand.SUM_EXP,
}
"""What a command that ends a row is in a block that is not its last."""


ZERO = np.float32(0)


@dataclass
class Known:
    """What is known of a row, from what has left the lanes."""

    total: int = 0
    count: int = 0
    running: int = INT32_MIN
    largest: int = 0
    mean: int = 0
    deviation: np.float32 = ZERO
    probability: np.float32 = ZERO

    def begin(self, command: NormCommand, activation: Activation) -> tuple[int, Curve]:
        """The offset and the curve of a special row."""
        match NOT_YET.get(command, command), activation:
            case NormCommand.RESET, Activation.LAYERNORM:
                return self.mean, Curve.LINEAR
            case NormCommand.RESET, Activation.SOFTMAX:
                return self.largest, Curve.EXPONENTIAL
            case NormCommand.RESET, Activation.IGELU:
                return 0, Curve.GELU
            case NormCommand.VARIANCE, _:
                return self.mean, Curve.SQUARE
            case NormCommand.SUM_EXP, _:
                self.largest = self.running
                return self.largest, Curve.EXPONENTIAL
        return 0, Curve.LINEAR

    def end(self, command: NormCommand, row: list[int], scale: np.float32) -> None:
        """A row has left the lanes."""
        gathers = NOT_YET.get(command, command)
        if gathers is NormCommand.RESET:
            self.total, self.count, self.running = 0, 0, INT32_MIN
        elif gathers is NormCommand.MAX:
            self.running = max(self.running, *row)
        else:
            self.total = int(wrap32(self.total + sum(row)))
            self.count += len(row) if gathers is not NormCommand.SUM_EXP else 0
        if command is NormCommand.INV_SUM_EXP:
            self.probability = inverse_sum(self.total, scale)
        elif command in NOT_YET:
            if command is NormCommand.MEAN:
                self.mean = truncated_mean(self.total, self.count)
            else:
                self.deviation = inverse_deviation(self.total, self.count, scale)
            self.total, self.count = 0, 0

    def scale(self, activation: Activation, scale: np.float32) -> np.float32:
        """What a row that leaves is scaled by."""
        known = {Activation.LAYERNORM: self.deviation, Activation.SOFTMAX: self.probability}
        return known.get(activation, scale)


@pytest.mark.parametrize("seed", range(4))
def test_records_of_random_rows_are_those_of_the_contract(seed):
    """Commands in any order, also without a row that leaves between them."""
    rng, config = random.Random(seed), AcceleratorConfig(dim=4)
    dut, records = PassingControl(config), [Known() for _ in range(STATISTICS)]
    commands = [*NormCommand, NormCommand.RESET, NormCommand.RESET]

    async def testbench(ctx):
        for _ in range(150):
            number, command = rng.randrange(STATISTICS), rng.choice(commands)
            activation = rng.choice(list(Activation))
            scale = np.float32(rng.uniform(1e-3, 2))
            elements, last = rng.randint(1, config.dim), rng.random() < 0.6
            largest = 1 << rng.randrange(2, 24)
            row = [rng.randrange(-largest // 4, largest) for _ in range(config.dim)]
            ctx.set(dut.row, row)
            offer(ctx, dut, command, activation, elements=elements, last_in_row=last)
            ctx.set(dut.read.scale, int(scale.view(np.uint32)))
            ctx.set(dut.read.passing.statistics, number)
            await wait(ctx, dut)
            record = records[number]
            if command is NormCommand.RESET:
                wanted = record.scale(activation, scale)
                assert ctx.get(dut.scale) == int(np.float32(wanted).view(np.uint32))
            await grant(ctx, dut)
            command = command if last else NOT_YET.get(command, command)
            offset, curve = record.begin(command, activation)
            assert (ctx.get(dut.offset), ctx.get(dut.curve)) == (offset, curve)
            record.end(command, row[:elements], scale)
            await wait(ctx, dut)

    simulate(dut, testbench, deadline=40_000)
