"""`PassingControl`: who may pass when.  What becomes of the rows: `tests/system/test_bert.py`."""

from celosia.hw.gemmini.norms.factor import FactorUnit
from celosia.hw.gemmini.norms.lanes import BertLanes, Curve
from celosia.hw.gemmini.norms.passing import PassingControl
from celosia.hw.memory.read_port import LOCAL_READ_LATENCY
from celosia.isa.bert import Activation, NormCommand
from celosia.isa.config import AcceleratorConfig
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
