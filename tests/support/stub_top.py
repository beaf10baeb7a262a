"""A stand-in for the accelerator: its ports, and a few commands that exercise simulators."""

from typing import Any

from amaranth.hdl import Assert, Const, Format, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Command
from celosia.isa.errors import Cause
from celosia.isa.events import COUNTERS

COPY, COMPUTE, HANG, WITHDRAW, WRONG_BURST, FAIL, ASSERT, DUMP = range(1, 9)

BEATS = 4
"""Beats of every burst."""


def copy(source: int, target: int) -> Command:
    """Copy `BEATS` beats."""
    return Command(COPY, source, target)


def ports(config: AcceleratorConfig) -> dict[str, Any]:
    """The accelerator's ports, as `docs/architecture.md` lists them."""
    width = config.bus_bits
    members: dict[str, Any] = {
        "cmd_valid": In(1),
        "cmd_ready": Out(1),
        "cmd_funct": In(7),
        "cmd_rs1": In(64),
        "cmd_rs2": In(64),
        "m_axi_rvalid": In(1),
        "m_axi_rready": Out(1),
        "m_axi_rdata": In(width),
        "m_axi_rresp": In(2),
        "m_axi_rlast": In(1),
        "m_axi_rid": In(4),
        "m_axi_wvalid": Out(1),
        "m_axi_wready": In(1),
        "m_axi_wdata": Out(width),
        "m_axi_wstrb": Out(width // 8),
        "m_axi_wlast": Out(1),
        "m_axi_bvalid": In(1),
        "m_axi_bready": Out(1),
        "m_axi_bresp": In(2),
        "m_axi_bid": In(4),
        "busy": Out(1),
        "error_cause": Out(4),
        "error_address": Out(64),
        "error_tag": Out(32),
    }
    for channel in ("ar", "aw"):
        prefix = f"m_axi_{channel}"
        members |= {f"{prefix}valid": Out(1), f"{prefix}ready": In(1), f"{prefix}addr": Out(64)}
        members |= {f"{prefix}len": Out(8), f"{prefix}size": Out(3), f"{prefix}burst": Out(2)}
        members |= {f"{prefix}id": Out(4)}
    members |= {f"{kind}_{end}": In(64) for kind in ("read", "write") for end in ("base", "limit")}
    for unit in ("load", "execute", "store"):
        members |= {f"queued_{unit}": Out(8), f"waits_{unit}": Out(4)}
    members |= {f"counter_{counter.name}": Out(48) for counter in COUNTERS}
    return members


class StubTop(wiring.Component):
    """Executes one command at a time; see the states of `elaborate`."""

    def __init__(self, config: AcceleratorConfig, memory_seed: int | None = None):
        self._config = config
        self._seed = memory_seed
        super().__init__(ports(config))

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        top: Any = self
        width = self._config.bus_bits
        m.submodules.beats = beats = Memory(shape=width, depth=BEATS, init=self._garbage(width))
        write, read = beats.write_port(), beats.read_port(domain="comb")
        index = Signal(range(BEATS))
        funct, rs1, rs2 = Signal(7), Signal(64), Signal(64)
        tag, patience = Signal(32), Signal(4)
        for channel, address in (("ar", rs1), ("aw", rs2)):
            m.d.comb += [
                getattr(top, f"m_axi_{channel}addr").eq(address),
                getattr(top, f"m_axi_{channel}len").eq(BEATS - 1),
                getattr(top, f"m_axi_{channel}size").eq((width // 8).bit_length() - 1),
                getattr(top, f"m_axi_{channel}burst").eq(funct != WRONG_BURST),
                getattr(top, f"m_axi_{channel}id").eq(3),
            ]
        m.d.comb += [
            write.addr.eq(index),
            write.data.eq(top.m_axi_rdata),
            write.en.eq(top.m_axi_rvalid & top.m_axi_rready),
            read.addr.eq(index),
            top.m_axi_wdata.eq(read.data),
            top.m_axi_wstrb.eq(-1),
            top.m_axi_wlast.eq(index == BEATS - 1),
        ]
        m.d.sync += top.counter_cycles.eq(top.counter_cycles + top.busy)
        with m.FSM() as fsm:
            m.d.comb += top.busy.eq(~fsm.ongoing("IDLE"))
            with m.State("IDLE"):
                m.d.comb += top.cmd_ready.eq(~top.error_cause.any())
                with m.If(top.cmd_valid & top.cmd_ready):
                    m.d.sync += [
                        funct.eq(top.cmd_funct),
                        rs1.eq(top.cmd_rs1),
                        rs2.eq(top.cmd_rs2),
                        tag.eq(tag + 1),
                        index.eq(0),
                        patience.eq(0),
                        top.counter_commands.eq(top.counter_commands + 1),
                    ]
                    m.next = "EXECUTE"
            with m.State("EXECUTE"):
                self._choose(m, funct)
            with m.State("COMPUTE"):
                m.d.sync += [
                    rs1.eq(rs1 - 1),
                    top.counter_array_rows.eq(top.counter_array_rows + 1),
                ]
                with m.If(rs1 == 0):
                    m.next = "IDLE"
            with m.State("HANG"):
                m.d.comb += [
                    top.queued_execute.eq(2),
                    top.waits_execute.eq(0b001),
                    top.queued_load.eq(1),
                ]
            with m.State("FAIL"):
                m.d.sync += [
                    top.error_cause.eq(Cause.LOCAL_RANGE),
                    top.error_address.eq(rs1),
                    top.error_tag.eq(tag - 1),
                ]
                m.next = "IDLE"
            with m.State("ASSERT"):
                m.d.sync += Assert(Const(0), Format("rs1 is {}", rs1))
                m.next = "IDLE"
            with m.State("READ ADDRESS"):
                m.d.sync += patience.eq(patience + 1)
                m.d.comb += top.m_axi_arvalid.eq((funct != WITHDRAW) | (patience < 2))
                with m.If(top.m_axi_arvalid & top.m_axi_arready):
                    m.next = "READ"
            with m.State("READ"):
                m.d.comb += top.m_axi_rready.eq(1)
                with m.If(top.m_axi_rvalid):
                    m.d.sync += index.eq(index + 1)
                    with m.If(top.m_axi_rlast):
                        m.next = "WRITE ADDRESS"
            with m.State("WRITE ADDRESS"):
                m.d.comb += top.m_axi_awvalid.eq(1)
                with m.If(top.m_axi_awready):
                    m.next = "WRITE"
            with m.State("WRITE"):
                m.d.comb += top.m_axi_wvalid.eq(1)
                with m.If(top.m_axi_wready):
                    m.d.sync += index.eq(index + 1)
                    with m.If(top.m_axi_wlast):
                        m.next = "RESPONSE"
            with m.State("RESPONSE"):
                m.d.comb += top.m_axi_bready.eq(1)
                with m.If(top.m_axi_bvalid):
                    m.next = "IDLE"
        return m

    def _choose(self, m: Module, funct: Signal) -> None:
        with m.Switch(funct):
            with m.Case(COMPUTE):
                m.next = "COMPUTE"
            with m.Case(HANG):
                m.next = "HANG"
            with m.Case(FAIL):
                m.next = "FAIL"
            with m.Case(ASSERT):
                m.next = "ASSERT"
            with m.Case(DUMP):
                m.next = "WRITE ADDRESS"
            with m.Default():
                m.next = "READ ADDRESS"

    def _garbage(self, width: int) -> list[int]:
        if self._seed is None:
            return []
        return [(self._seed + 1) * 0x9E3779B97F4A7C15 * row % (1 << width) for row in range(BEATS)]
