"""`Accelerator`: the first error stops it, cleanly, and is kept."""

import pytest

from celosia.hw.accelerator import Accelerator
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import FLUSH, MVIN, MVIN_PARAM, Command
from celosia.isa.errors import Cause
from tests.support.streams import send, simulate

CONFIG = AcceleratorConfig(dim=4, scratchpad_kib=1, accumulator_kib=1, bus_bits=32)


@pytest.mark.parametrize(
    ("commands", "cause", "tag"),
    [
        ([FLUSH.encode(), Command(99)], Cause.UNKNOWN_FUNCT, 1),
        ([MVIN.encode(dram=64, local=250, local_cols=4, local_rows=16)], Cause.LOCAL_RANGE, 0),
        ([FLUSH.encode(), MVIN_PARAM.encode(dram=0x1000, count=4)], Cause.READ_LIMIT, 1),
    ],
)
def test_an_error_halts_and_is_kept(commands, cause, tag):
    dut = Accelerator(CONFIG)

    async def testbench(ctx):
        ctx.set(dut.read_limits, {"base": 0, "limit": 0xFFF})
        ctx.set(dut.read_port.ar.ready, 1)
        await send(ctx, dut.commands, [command._asdict() for command in commands])
        for _ in range(30):
            assert not ctx.get(dut.read_port.ar.valid)
            await ctx.tick()
        assert ctx.get(dut.error.cause) == cause
        assert ctx.get(dut.error.tag) == tag
        assert not ctx.get(dut.busy)
        assert not ctx.get(dut.commands.ready)

    simulate(dut, testbench)


def test_busy_covers_a_command_from_its_acceptance():
    dut = Accelerator(CONFIG)

    async def testbench(ctx):
        assert not ctx.get(dut.busy)
        await send(ctx, dut.commands, [FLUSH.encode()._asdict()])
        assert ctx.get(dut.busy)
        await ctx.tick().repeat(4)
        assert not ctx.get(dut.busy)
        assert ctx.get(dut.counters.commands) == 1

    simulate(dut, testbench)
