"""What leaves the core on flat ports, down to the highest bit, and the limits that come in."""

from typing import Any

from amaranth.sim import Simulator

from celosia.hw.top import Top
from celosia.isa.encoding import CONFIG_LD, MVIN
from celosia.isa.errors import Cause
from celosia.isa.presets import PRESETS

TINY = PRESETS["tiny"].with_values({"normalization": False})
HIGH = 0xFEDC_BA98_0000_0F40
CYCLES = 40


async def _command(ctx, top, command) -> None:
    ctx.set(top.cmd_funct, command.funct)
    ctx.set(top.cmd_rs1, command.rs1)
    ctx.set(top.cmd_rs2, command.rs2)
    ctx.set(top.cmd_valid, 1)
    await ctx.tick().until(top.cmd_ready)
    ctx.set(top.cmd_valid, 0)


async def _request(ctx, top) -> tuple[int, int]:
    """The read address on offer, soon, and its length."""
    for _ in range(CYCLES):
        if ctx.get(top.m_axi_arvalid):
            break
        await ctx.tick()
    return ctx.get(top.m_axi_araddr), ctx.get(top.m_axi_arlen)


def test_an_address_keeps_all_its_bits_and_the_lower_limit_holds():
    top: Any = Top(TINY)

    async def testbench(ctx):
        ctx.set(top.read_base, HIGH)
        ctx.set(top.read_limit, (1 << 64) - 1)
        await _command(ctx, top, CONFIG_LD.encode(stride=4, block_stride=4))
        await _command(ctx, top, MVIN.encode(dram=HIGH, local=0, local_cols=4, local_rows=1))
        address, length = await _request(ctx, top)
        assert (address, length) == (HIGH, 0)
        ctx.set(top.m_axi_arready, 1)
        await ctx.tick()
        ctx.set(top.m_axi_rlast, 1)
        ctx.set(top.m_axi_rvalid, 1)
        await ctx.tick().until(top.m_axi_rready)
        ctx.set(top.m_axi_rvalid, 0)
        await _command(ctx, top, MVIN.encode(dram=HIGH - 1, local=0, local_cols=4, local_rows=1))
        for _ in range(CYCLES):
            await ctx.tick()
        assert ctx.get(top.error_cause) == Cause.READ_LIMIT
        assert ctx.get(top.error_address) == HIGH - 1

    simulator = Simulator(top)
    simulator.add_clock(1e-6)
    simulator.add_testbench(testbench)
    simulator.run()
