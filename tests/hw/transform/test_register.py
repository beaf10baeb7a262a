"""`StepRegister`: steps pass in order, one per cycle."""

import random

import pytest

from celosia.hw.transform.register import StepRegister
from celosia.isa.config import AcceleratorConfig
from tests.support.streams import simulate

CONFIG = AcceleratorConfig(dim=4, scratchpad_kib=1, accumulator_kib=1, normalization=True)


@pytest.mark.parametrize("seed", range(3))
def test_steps_pass_in_order_however_both_sides_stall(seed):
    rng, dut = random.Random(seed), StepRegister(CONFIG)
    wanted = [{"row": number, "last": number % 3 == 0} for number in range(1, 200)]
    found = []

    async def testbench(ctx):
        waiting, offered = list(wanted), None
        while len(found) < len(wanted):
            gives, accepts = bool(waiting) and rng.random() < 0.7, rng.random() < 0.7
            ctx.set(dut.i.valid, gives)
            if waiting:
                ctx.set(dut.i.p, waiting[0])
            ctx.set(dut.o.ready, accepts)
            assert ctx.get(dut.o.valid) == (offered is not None)
            if offered is not None:
                assert (ctx.get(dut.o.p.row), ctx.get(dut.o.p.last)) == tuple(offered.values())
            assert ctx.get(dut.i.ready) == (offered is None or accepts)
            if offered is not None and accepts:
                found.append(offered)
                offered = None
            if gives and offered is None:
                offered = waiting.pop(0)
            await ctx.tick()

    simulate(dut, testbench)
    assert found == wanted


def test_nothing_is_lost_between_steps():
    """One step per cycle, each on offer `LATENCY` cycles behind."""
    dut = StepRegister(CONFIG)

    async def testbench(ctx):
        ctx.set(dut.i.valid, 1)
        ctx.set(dut.o.ready, 1)
        for number in range(50):
            ctx.set(dut.i.p, {"row": number})
            assert ctx.get(dut.i.ready)
            if number >= StepRegister.LATENCY:
                assert ctx.get(dut.o.p.row) == number - StepRegister.LATENCY
            await ctx.tick()

    simulate(dut, testbench)
