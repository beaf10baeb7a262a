"""What leaves the core on flat ports, down to the highest bit, and the limits that come in."""

from typing import Any

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import Out
from amaranth.sim import Simulator

from celosia.hw.bus.bus import ReadPort, WritePort
from celosia.hw.host.flat_ports import (
    connect_address,
    connect_beats,
    connect_writes,
    read_ports,
    write_ports,
)
from celosia.hw.host.top import Top
from celosia.isa.encoding import CONFIG_LD, MVIN
from celosia.isa.presets import PRESETS
from celosia.isa.registers.errors import Cause

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
        assert ctx.get(top.error_tag) == 2

    simulator = Simulator(top)
    simulator.add_clock(1e-6)
    simulator.add_testbench(testbench)
    simulator.run()


class Flat(wiring.Component):
    """Both memory ports, and their flat names."""

    read: Any
    write: Any

    def __init__(self) -> None:
        self.config = TINY
        inner = {"read": Out(ReadPort(TINY)).flip(), "write": Out(WritePort(TINY)).flip()}
        super().__init__(inner | read_ports(TINY) | write_ports(TINY))

    def elaborate(self, platform) -> Module:
        m = Module()
        connect_address(m, self, "ar", self.read.ar, self.read.ar.p)
        connect_beats(m, self, self.read.r, self.read.r.p)
        connect_writes(m, self, self.write)
        return m


def test_every_flat_port_is_what_its_name_says():
    dut: Any = Flat()
    aligned = (TINY.bus_bytes - 1).bit_length()
    channels = {"ar": dut.read.ar, "r": dut.read.r}
    channels |= {name: getattr(dut.write, name) for name in ("aw", "w", "b")}
    address = {"addr": "address", "len": "beats_minus_1"}
    names = {"ar": address, "aw": address}
    names["r"] = {"data": "data", "resp": "response", "last": "last"}
    names["w"] = {"data": "data", "strb": "strobe", "last": "last"}
    names["b"] = {"resp": "response"}

    async def testbench(ctx):
        for channel, inner in channels.items():
            inward = channel in {"r", "b"}
            pairs = {"valid": inner.valid, "ready": inner.ready}
            pairs |= {name: inner.p[field] for name, field in names[channel].items()}
            for name, signal in pairs.items():
                flat = getattr(dut, f"m_axi_{channel}{name}")
                source, target = (flat, signal) if inward != (name == "ready") else (signal, flat)
                for value in (1, 0, (1 << len(flat)) - 1, 0):
                    ctx.set(source, value)
                    assert ctx.get(target) == value, flat.name
        for channel in ("ar", "aw"):
            assert ctx.get(getattr(dut, f"m_axi_{channel}size")) == aligned
            assert ctx.get(getattr(dut, f"m_axi_{channel}burst")) == 1

    simulator = Simulator(dut)
    simulator.add_testbench(testbench)
    simulator.run()
