"""The accelerator on a bus, with flat port names: module `celosia_axi`."""

from typing import Any

from amaranth import Cat, ClockDomain, DomainRenamer, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect

from celosia.hw.accelerator import Accelerator
from celosia.hw.bus.read_arbiter import ReadArbiter
from celosia.hw.host.flat_ports import (
    command_ports,
    connect_address,
    connect_beats,
    connect_writes,
    read_ports,
    write_ports,
)
from celosia.hw.host.register_file import RegisterFile
from celosia.hw.host.ring_fetch import RingFetcher
from celosia.hw.host.ring_pointers import RingPointers
from celosia.hw.host.supervisor import Supervisor
from celosia.hw.observe.counters import Counters, owner_number
from celosia.isa.config import AcceleratorConfig
from celosia.isa.registers.errors import Cause
from celosia.isa.registers.map import REGISTER_BITS, WINDOW_BYTES, BusId
from celosia.isa.registers.queues import QUEUES

__all__ = ["AxiTop", "lite_ports"]

ATTRIBUTES = {"lock": (1, 0), "cache": (4, 0b0011), "prot": (3, 0b000), "qos": (4, 0)}
"""Further signals of AR and AW, each with its width and constant value.  Cache: normal memory, not
cacheable, bufferable."""


class AxiTop(wiring.Component):
    """Registers, ring and counters around `Accelerator`; the ports are in docs/architecture.md.

    Commands come from the stream, or, with ``ring_enable``, from the ring.  Adds no cycle to any
    path of `Accelerator`.  All domains have the clock ``clk``: ``port`` is never reset, ``sync`` by
    ``rst`` (through a register), ``core`` also by clear_error, and ``counters`` by clear_counters.
    Reset takes three cycles.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        What to build.
    memory_seed : int or None
        Seed of the contents of local memories at power-on, in Amaranth's simulator.
    """

    def __init__(self, config: AcceleratorConfig, *, memory_seed: int | None = None):
        self.config = config
        self._seed = memory_seed
        status = {name: Out(1) for name in ("interrupt", "busy", "error", "progress")}
        super().__init__(
            {"clk": In(1), "rst": In(1)}
            | command_ports()
            | read_ports(config)
            | write_ports(config)
            | _attribute_ports()
            | lite_ports()
            | status
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        ports: Any = self
        in_core, in_counters = DomainRenamer("core"), DomainRenamer("counters")
        self._core = core = Accelerator(self.config, memory_seed=self._seed)
        self._fetcher = fetcher = RingFetcher(self.config)
        self._arbiter = arbiter = ReadArbiter(self.config)
        self._counters = counters = Counters(self.config)
        self._registers = registers = RegisterFile(self.config)
        self._pointers, self._supervisor = RingPointers(), Supervisor()
        m.submodules.accelerator = in_core(core)
        m.submodules.ring_fetcher = in_core(fetcher)
        m.submodules.read_arbiter = in_core(arbiter)
        m.submodules.counters = in_counters(counters)
        m.submodules.registers = registers
        m.submodules.ring_pointers = self._pointers
        m.submodules.supervisor = self._supervisor
        self._clock(m)

        halted = Signal()
        m.d.comb += [halted.eq(core.error.cause != Cause.NONE), counters.events.eq(core.events)]
        self._supervise(m, halted)
        self._ring(m, halted)
        self._commands(m)
        self._show(m, halted)
        self._host(m)

        # The memory port.
        connect(m, core.read_port, arbiter.load)
        connect(m, fetcher.port, arbiter.ring)
        m.d.comb += arbiter.urgent.eq(fetcher.urgent)
        ar, r = arbiter.memory.ar, arbiter.memory.r
        connect_address(m, self, "ar", ar, ar.p.request)
        connect_beats(m, self, r, r.p.beat)
        connect_writes(m, self, core.write_port)
        m.d.comb += [
            ports.m_axi_arid.eq(ar.p.id),
            r.p.id.eq(ports.m_axi_rid),
            ports.m_axi_awid.eq(BusId.DATA),
        ]
        for channel in ("ar", "aw"):
            for name, (_, value) in ATTRIBUTES.items():
                m.d.comb += getattr(self, f"m_axi_{channel}{name}").eq(value)
        return m

    def _clock(self, m: Module) -> None:
        """One clock, a domain for each way to be reset."""
        ports: Any = self
        reset = Signal(init=1)
        resets = {
            "port": None,
            "sync": reset,
            "core": self._supervisor.reset_core,
            "counters": self._supervisor.reset_counters,
        }
        for name, signal in resets.items():
            domain: Any = ClockDomain(name, local=True, reset_less=signal is None)
            domain.clk, domain.rst = ports.clk, signal
            m.domains += domain
        m.d.port += reset.eq(ports.rst)

    def _supervise(self, m: Module, halted: Signal) -> None:
        """Limits of time, resets, interrupts."""
        ports: Any = self
        registers, supervisor, core = self._registers, self._supervisor, self._core
        values, raised = registers.values, registers.raised
        moved = Signal()  # In this cycle.
        events = core.events
        rows = (owner_number("array_rows"), owner_number("array_padding"))
        m.d.comb += [
            moved.eq(
                events.command
                | (core.commands.valid & core.commands.ready)
                | (ports.m_axi_arvalid & ports.m_axi_arready)
                | (ports.m_axi_rvalid & ports.m_axi_rready)
                | (ports.m_axi_awvalid & ports.m_axi_awready)
                | (ports.m_axi_wvalid & ports.m_axi_wready)
                | (ports.m_axi_bvalid & ports.m_axi_bready)
                | (events.busy & events.array.matches(*rows))
            ),
            supervisor.core_busy.eq(core.busy),
            supervisor.halted.eq(halted),
            supervisor.progress.eq(ports.progress),
            supervisor.budget.eq(values.cycle_budget),
            supervisor.patience.eq(values.watchdog),
            supervisor.clear_error.eq(registers.actions.clear_error),
            supervisor.clear_counters.eq(registers.actions.clear_counters),
            core.fault.eq(supervisor.fault),
            registers.busy.eq(supervisor.busy),
            raised.interrupt_status.done.eq(supervisor.done),
            raised.interrupt_status.error.eq(supervisor.failed),
            ports.busy.eq(supervisor.busy),
            ports.error.eq(halted),
        ]
        m.d.sync += [
            ports.progress.eq(moved),
            ports.interrupt.eq(
                (values.interrupt_status.as_value() & values.interrupt_enable.as_value()).any()
            ),
        ]
        for way, limits in (("read", core.read_limits), ("write", core.write_limits)):
            m.d.comb += [
                limits.base.eq(getattr(values, f"{way}_base")),
                limits.limit.eq(getattr(values, f"{way}_limit")),
            ]

    def _ring(self, m: Module, halted: Signal) -> None:
        """Commands from memory."""
        registers, supervisor, core = self._registers, self._supervisor, self._core
        pointers, fetcher, values = self._pointers, self._fetcher, self._registers.values
        connect(m, pointers.runs, fetcher.runs)
        m.d.comb += [
            pointers.base.eq(values.ring_base),
            pointers.size.eq(values.ring_size),
            pointers.tail.eq(values.ring_tail),
            pointers.doorbell.eq(registers.actions.ring_doorbell),
            pointers.enable.eq(values.control.ring_enable),
            pointers.clear.eq(supervisor.reset_core),
            pointers.accepted.eq(fetcher.commands.valid & fetcher.commands.ready),
            pointers.completed.eq(core.completed),
            pointers.gained.eq(core.gained),
            fetcher.limits.eq(core.read_limits),
            fetcher.core_busy.eq(core.busy & ~core.starved),
            fetcher.halt.eq(halted),
            core.pending.eq((pointers.pending & ~halted) | fetcher.in_flight),
            supervisor.ring_busy.eq(core.pending),
            supervisor.ring_fault.eq(fetcher.fault),
        ]
        with m.If(pointers.fault.valid):
            m.d.comb += supervisor.ring_fault.eq(pointers.fault)

    def _commands(self, m: Module) -> None:
        """Give the core commands of the stream or the ring, and none while it is being cleared."""
        ports: Any = self
        core, ring = self._core.commands, self._fetcher.commands
        open_, free = Signal(), ~self._supervisor.reset_core
        m.d.comb += open_.eq(free & ~self._registers.values.control.ring_enable)
        with m.If(self._registers.values.control.ring_enable):
            m.d.comb += [core.valid.eq(ring.valid), core.p.eq(ring.p), ring.ready.eq(core.ready)]
        with m.Else():
            m.d.comb += [
                core.valid.eq(ports.cmd_valid & open_),
                core.p.funct.eq(ports.cmd_funct),
                core.p.rs1.eq(ports.cmd_rs1),
                core.p.rs2.eq(ports.cmd_rs2),
                ports.cmd_ready.eq(core.ready & open_),
            ]

    def _show(self, m: Module, halted: Signal) -> None:
        """What the host can read."""
        core, pointers, shown = self._core, self._pointers, self._registers.shown
        m.d.comb += [
            shown.status.busy.eq(self._supervisor.busy),
            shown.status.error.eq(halted),
            shown.status.ring_empty.eq(pointers.empty),
            shown.error.cause.eq(core.error.cause),
            shown.error.id.eq(core.error.id),
            shown.error_command.eq(core.error.tag),
            shown.error_address.eq(core.error.address),
            shown.ring_head.eq(pointers.head),
            shown.ring_completed.eq(pointers.completions),
        ]
        m.d.comb += [
            shown.debug_token.waits.eq(core.token.waits),
            shown.debug_token.id.eq(core.token.token),
            shown.debug_token_count.eq(core.token.count),
            shown.debug_token_value.eq(core.token.finished),
            shown.debug_loops.busy.eq(core.looping),
            shown.debug_loops.missing.eq(core.missing),
        ]
        for queue in QUEUES:
            waits = core.waits[queue]
            m.d.comb += [
                shown.debug_queues[queue].eq(core.queued[queue]),
                shown.debug_waits[queue].eq(Cat(*(waits[of] for of in QUEUES), waits.controller)),
            ]
        m.d.comb += [
            self._counters.read.eq(self._registers.counter_read),
            self._counters.number.eq(self._registers.counter_number),
            self._registers.counter.eq(self._counters.value),
        ]

    def _host(self, m: Module) -> None:
        """The AXI4-Lite port."""
        lite = self._registers.port
        for channel, payload in LITE_CHANNELS.items():
            stream = getattr(lite, channel)
            from_host = channel in HOST_DRIVES
            pairs = [(f"s_axi_{channel}valid", stream.valid, from_host)]
            pairs += [(f"s_axi_{channel}ready", stream.ready, not from_host)]
            pairs += [
                (f"s_axi_{channel}{name}", stream.p[field], from_host)
                for name, (field, _) in payload.items()
            ]
            for name, signal, inward in pairs:
                port = getattr(self, name)
                m.d.comb += signal.eq(port) if inward else port.eq(signal)


_LITE_ADDRESS = {"addr": ("address", (WINDOW_BYTES - 1).bit_length()), "prot": ("protection", 3)}

LITE_CHANNELS = {
    "aw": _LITE_ADDRESS,
    "w": {"data": ("data", REGISTER_BITS), "strb": ("strobe", REGISTER_BITS // 8)},
    "b": {"resp": ("response", 2)},
    "ar": _LITE_ADDRESS,
    "r": {"data": ("data", REGISTER_BITS), "resp": ("response", 2)},
}
"""The payload of each channel: name of the port, name of the field, width."""

HOST_DRIVES = {"aw", "w", "ar"}


def _attribute_ports() -> dict[str, wiring.Member]:
    return {
        f"m_axi_{channel}{name}": Out(width)
        for channel in ("ar", "aw")
        for name, (width, _) in ATTRIBUTES.items()
    }


def lite_ports() -> dict[str, wiring.Member]:
    """The five channels of AXI4-Lite, seen from the registers."""
    ports: dict[str, wiring.Member] = {}
    for channel, payload in LITE_CHANNELS.items():
        there, back = (In, Out) if channel in HOST_DRIVES else (Out, In)
        ports[f"s_axi_{channel}valid"] = there(1)
        ports[f"s_axi_{channel}ready"] = back(1)
        for name, (_, width) in payload.items():
            ports[f"s_axi_{channel}{name}"] = there(width)
    return ports
