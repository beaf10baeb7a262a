"""The RTL under Amaranth's own simulator: slow, but without any tool in between."""

from collections.abc import Mapping, Sequence
from ctypes import POINTER, Structure, addressof, byref, memmove, sizeof, string_at
from importlib import import_module
from typing import Any

from amaranth.hdl import Cat, ClockDomain, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.sim import Simulator

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sim.devices.rtl_device import DEFAULT_TIMING, MEMORY_BYTES, RtlDevice, Setup
from celosia.sim.support.progress import Progress, silent
from celosia.sim.verilator.build import bench_library
from celosia.sim.verilator.harness.binding import (
    RESET_EDGES,
    BenchConfig,
    BenchPins,
    ChipPins,
    Goal,
    LogPins,
    Observed,
    State,
    bind,
)
from celosia.sim.verilator.harness.settings import bench_config

__all__ = ["DOMAIN", "PERIOD", "AmaranthDevice"]

PERIOD = 1e-6
"""The clock's period, in the simulator's seconds."""
DOMAIN = "bench"
"""The name of the clock's domain in the simulator."""


class AmaranthDevice(RtlDevice):
    """The accelerator under Amaranth's simulator; takes as many cycles as under Verilator.

    `top` is the accelerator if it is not that of `config`.  The constructor raises
    `EnvironmentProblem` when there is no C++ compiler for the memory model, and `ValueError` for a
    timing or a size that no memory has, or an accelerator of another configuration.
    """

    name = "amaranth"

    def __init__(
        self,
        config: AcceleratorConfig,
        timing: MemoryTiming = DEFAULT_TIMING,
        memory_bytes: int = MEMORY_BYTES,
        progress: Progress = silent,
        top: wiring.Component | None = None,
    ):
        bench = bench_config(config, timing, memory_bytes)
        library = bind(bench_library())
        library.celosia_create.argtypes = [POINTER(BenchConfig)]
        handle = library.celosia_create(byref(bench))
        super().__init__(Setup(config, timing, memory_bytes, progress), library, handle)
        observed_top = import_module("celosia.sim.verilator.observed").ObservedTop
        self._top: Any = top or observed_top(config, memory_seed=timing.seed)
        self._edges = self._resetting = 0
        self._marking = False
        self._goal = Goal.RUN_OVER
        self._simulator = self._make_simulator()
        self.power_on()

    def _make_simulator(self) -> Simulator:
        m = Module()
        m.submodules.top = self._top
        # The same signal as in the top: a copy would rise later.
        domain: Any = ClockDomain(DOMAIN, reset_less=True)
        domain.clk = self._top.clk
        m.domains += domain
        # Packed and unpacked by the simulated design, which is compiled; a testbench is not.
        self._chip = Signal(8 * sizeof(ChipPins))
        self._pins = Signal(8 * sizeof(BenchPins))
        self._observed = Signal(8 * sizeof(Observed))
        self._noted = Signal(8 * sizeof(LogPins))
        m.d.comb += [
            self._chip.eq(Cat(_packed(ChipPins, _chip_values(self._top)))),
            Cat(_packed(BenchPins, _bench_values(self._top))).eq(self._pins),
        ]
        if self._observable():
            m.d.comb += self._observed.eq(Cat(_packed(Observed, _observed_values(self._top))))
        if self._logging():
            m.d.comb += self._noted.eq(Cat(_packed(LogPins, self._top.log_ports)))
        simulator = Simulator(m)
        simulator.add_clock(PERIOD, domain=DOMAIN)
        simulator.add_testbench(self._bench, background=True)
        return simulator

    async def _bench(self, ctx: Any) -> None:
        """Exchange pins with the bench at every rising edge, for ever."""
        sampled, driven, shown = ChipPins(), BenchPins(), b""
        seen, noted = Observed(), LogPins()
        while True:
            if self._resetting:
                ctx.set(self._pins, 0)
                ctx.set(self._top.rst, 1)
                for _ in range(self._resetting):
                    await ctx.tick(DOMAIN)
                ctx.set(self._top.rst, 0)
                self._resetting, shown = 0, b""
            *_, word, event, note = await ctx.tick(DOMAIN).sample(
                self._chip, self._observed, self._noted
            )
            if self._resetting:
                continue
            memmove(byref(sampled), word.to_bytes(sizeof(ChipPins), "little"), sizeof(ChipPins))
            if self._marking:
                memmove(byref(seen), event.to_bytes(sizeof(Observed), "little"), sizeof(Observed))
                self._library.celosia_observe(self._handle, byref(seen))
            if self._logging():
                memmove(byref(noted), note.to_bytes(sizeof(LogPins), "little"), sizeof(LogPins))
                self._library.celosia_note(self._handle, byref(noted))
            going = self._library.celosia_edge(
                self._handle, byref(sampled), byref(driven), self._goal
            )
            image = string_at(addressof(driven), sizeof(BenchPins))
            if image != shown:
                ctx.set(self._pins, int.from_bytes(image, "little"))
                shown = image
            self._edges = self._edges - 1 if going else 0

    def _observable(self) -> bool:
        return hasattr(self._top, "product_begins")

    def _logging(self) -> bool:
        return hasattr(self._top, "log_ports")

    def _mark(self, marks: Sequence[int]) -> None:
        super()._mark(marks)
        self._marking = bool(marks)

    def _advance(self, edges: int, goal: Goal) -> None:
        self._edges, self._goal = edges, goal
        try:
            while self._edges > 0:
                self._simulator.advance()
        except AssertionError as error:
            self._library.celosia_stop(self._open(), State.ASSERTION, str(error).encode())

    def _reset(self) -> None:
        self._library.celosia_reset(self._open())
        self._resetting = RESET_EDGES
        while self._resetting:
            self._simulator.advance()


def _packed(structure: type[Structure], values: Mapping[str, Any]) -> list[Value]:
    """The bits of `values` as they lie in `structure`, from the lowest byte to the highest.

    Bits that are nowhere in `values` belong to signals that nobody else knows.
    """
    parts: list[Value] = []
    for name, kind, *_ in structure._fields_:
        value, bits = values.get(name, ()), 8 * sizeof(kind)
        if isinstance(value, Mapping):
            parts += _packed(_structure(kind), value)
            continue
        items = [Value.cast(item) for item in value] if isinstance(value, list | tuple) else [value]
        each = bits // max(1, len(items))
        for item in items:
            parts += [item, Signal(each - len(item))]
        parts += [] if items else [Signal(bits)]
    return parts


def _structure(kind: type) -> type[Structure]:
    assert issubclass(kind, Structure)
    return kind


def _chip_values(top: Any) -> dict[str, Any]:
    return {
        "memory": {
            "ar": _address(top, "ar"),
            "aw": _address(top, "aw"),
            "w_strobe": top.m_axi_wstrb,
            "w_data": top.m_axi_wdata,
            "ar_valid": top.m_axi_arvalid,
            "r_ready": top.m_axi_rready,
            "aw_valid": top.m_axi_awvalid,
            "w_valid": top.m_axi_wvalid,
            "w_last": top.m_axi_wlast,
            "b_ready": top.m_axi_bready,
        },
        "lite": {
            "r_data": top.s_axi_rdata,
            "aw_ready": top.s_axi_awready,
            "w_ready": top.s_axi_wready,
            "b_valid": top.s_axi_bvalid,
            "b_response": top.s_axi_bresp,
            "ar_ready": top.s_axi_arready,
            "r_valid": top.s_axi_rvalid,
            "r_response": top.s_axi_rresp,
        },
        "cmd_ready": top.cmd_ready,
        "busy": top.busy,
        "error": top.error,
        "progress": top.progress,
        "interrupt": top.interrupt,
    }


def _address(top: Any, channel: str) -> dict[str, Any]:
    fields = {
        "address": "addr",
        "beats_minus_1": "len",
        "size": "size",
        "burst": "burst",
        "id": "id",
        "lock": "lock",
        "cache": "cache",
        "protection": "prot",
        "quality": "qos",
    }
    return {name: getattr(top, f"m_axi_{channel}{port}") for name, port in fields.items()}


def _observed_values(top: Any) -> dict[str, Any]:
    return {
        "begins": top.product_begins,
        "ends": top.product_ends,
        "tag": top.product_tag,
        "counted": top.counted,
    }


def _bench_values(top: Any) -> dict[str, Any]:
    return {
        "memory": {
            "r_data": top.m_axi_rdata,
            "ar_ready": top.m_axi_arready,
            "r_valid": top.m_axi_rvalid,
            "r_response": top.m_axi_rresp,
            "r_last": top.m_axi_rlast,
            "r_id": top.m_axi_rid,
            "aw_ready": top.m_axi_awready,
            "w_ready": top.m_axi_wready,
            "b_valid": top.m_axi_bvalid,
            "b_response": top.m_axi_bresp,
            "b_id": top.m_axi_bid,
        },
        "command": {"funct": top.cmd_funct, "rs1": top.cmd_rs1, "rs2": top.cmd_rs2},
        "command_valid": top.cmd_valid,
        "lite": {
            "aw_address": top.s_axi_awaddr,
            "w_data": top.s_axi_wdata,
            "ar_address": top.s_axi_araddr,
            "aw_valid": top.s_axi_awvalid,
            "w_valid": top.s_axi_wvalid,
            "w_strobe": top.s_axi_wstrb,
            "b_ready": top.s_axi_bready,
            "ar_valid": top.s_axi_arvalid,
            "r_ready": top.s_axi_rready,
        },
    }
