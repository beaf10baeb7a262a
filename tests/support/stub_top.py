"""A stand-in for the accelerator: its ports, and a few commands that exercise simulators."""

from typing import Any

from amaranth.hdl import Assert, ClockDomain, Const, DomainRenamer, Format, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory

from celosia.hw.host.axi_top import HOST_DRIVES, LITE_CHANNELS, AxiTop
from celosia.hw.host.register_file import RegisterFile
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Command
from celosia.isa.registers.errors import Cause
from celosia.isa.registers.events import COUNTER_BITS, COUNTERS

COPY, COMPUTE, HANG, WITHDRAW, WRONG_BURST, FAIL, ASSERT, DUMP = range(1, 9)

BEATS = 4
"""Beats of every burst."""


def copy(source: int, target: int) -> Command:
    """Copy `BEATS` beats."""
    return Command(COPY, source, target)


class StubTop(wiring.Component):
    """Executes one command at a time; see the states of `elaborate`.

    It has the accelerator's registers; what it was asked to do with the ring, it does not do.
    """

    def __init__(self, config: AcceleratorConfig, memory_seed: int | None = None):
        self._config = config
        self._seed = memory_seed
        super().__init__(AxiTop(config).signature)

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        top: Any = self
        width = self._config.bus_bits
        self._registers = registers = RegisterFile(self._config)
        m.submodules.registers = DomainRenamer("port")(registers)
        shown = registers.shown
        cycles, commands, rows = (Signal(COUNTER_BITS) for _ in range(3))
        self._count(m, cycles, commands, rows)
        self._clock(m)
        self._connect_host(m)
        error = Signal(shown.error.cause.shape())
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
            registers.busy.eq(top.busy),
            shown.status.busy.eq(top.busy),
            shown.status.error.eq(top.error),
            shown.error.cause.eq(error),
            top.error.eq(error.any()),
        ]
        with m.If(top.busy):
            m.d.sync += cycles.eq(cycles + 1)
        with m.FSM() as fsm:
            m.d.comb += top.busy.eq(~fsm.ongoing("IDLE"))
            with m.State("IDLE"):
                m.d.comb += top.cmd_ready.eq(~top.error)
                with m.If(top.cmd_valid & top.cmd_ready):
                    m.d.sync += [
                        funct.eq(top.cmd_funct),
                        rs1.eq(top.cmd_rs1),
                        rs2.eq(top.cmd_rs2),
                        tag.eq(tag + 1),
                        index.eq(0),
                        patience.eq(0),
                        commands.eq(commands + 1),
                    ]
                    m.next = "EXECUTE"
            with m.State("EXECUTE"):
                self._choose(m, funct)
            with m.State("COMPUTE"):
                m.d.comb += top.progress.eq(1)
                m.d.sync += [
                    rs1.eq(rs1 - 1),
                    rows.eq(rows + 1),
                ]
                with m.If(rs1 == 0):
                    m.next = "IDLE"
            with m.State("HANG"):
                m.d.comb += [
                    shown.debug_queues.execute.eq(2),
                    shown.debug_waits.execute.eq(0b001),
                    shown.debug_queues.load.eq(1),
                ]
            with m.State("FAIL"):
                m.d.sync += [
                    error.eq(Cause.LOCAL_RANGE),
                    shown.error_address.eq(rs1),
                    shown.error_command.eq(tag - 1),
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
                # Data wait until their address is taken, which a memory may not like.
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
        with m.If(registers.actions.clear_counters):
            for counter in (cycles, commands, rows):
                m.d.sync += counter.eq(0)
        return m

    def _count(self, m: Module, cycles: Signal, commands: Signal, rows: Signal) -> None:
        """Show counters; units that are not there have nothing to do."""
        values = {"cycles": cycles, "commands": commands, "array_rows": rows}
        values |= {"drain": cycles - rows} | dict.fromkeys(
            ("read_none", "write_none", "vector_none"), cycles
        )
        shown = Signal(COUNTER_BITS)
        m.d.comb += self._registers.counter.eq(shown)
        with m.If(self._registers.counter_read), m.Switch(self._registers.counter_number):
            for number, counter in enumerate(COUNTERS):
                with m.Case(number):
                    m.d.port += shown.eq(values.get(counter.name, 0))

    def _clock(self, m: Module) -> None:
        """Registers outlive what `clear_error` resets."""
        top: Any = self
        reset = Signal()
        m.d.comb += reset.eq(top.rst | self._registers.actions.clear_error)
        for name, signal in (("sync", reset), ("port", top.rst)):
            domain: Any = ClockDomain(name, local=True)
            domain.clk, domain.rst = top.clk, signal
            m.domains += domain

    def _connect_host(self, m: Module) -> None:
        for channel, payload in LITE_CHANNELS.items():
            stream = getattr(self._registers.port, channel)
            inward = channel in HOST_DRIVES
            pairs = [("valid", stream.valid, inward), ("ready", stream.ready, not inward)]
            pairs += [(name, stream.p[field], inward) for name, (field, _) in payload.items()]
            for name, signal, from_host in pairs:
                port = getattr(self, f"s_axi_{channel}{name}")
                m.d.comb += signal.eq(port) if from_host else port.eq(signal)

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
