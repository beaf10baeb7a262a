"""The RTL under Amaranth's own simulator: slow, but without any tool in between."""

from collections.abc import Mapping
from ctypes import POINTER, Structure, addressof, byref, memmove, sizeof, string_at
from importlib import import_module
from typing import Any

from amaranth.hdl import Cat, ClockDomain, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.sim import Simulator

from celosia.isa.config import AcceleratorConfig
from celosia.isa.events import COUNTERS
from celosia.sim.build import bench_library
from celosia.sim.harness.binding import (
    RESET_EDGES,
    UNITS,
    BenchConfig,
    BenchPins,
    ChipPins,
    Inspection,
    State,
    bench_config,
    bind,
)
from celosia.sim.progress import Progress, silent
from celosia.sim.rtl_device import DEFAULT_TIMING, MEMORY_BYTES, RtlDevice, Setup
from celosia.sw.driver.device import MEMORY_BASE, MemoryTiming

__all__ = ["AmaranthDevice"]

_PERIOD = 1e-6


class AmaranthDevice(RtlDevice):
    """The accelerator under Amaranth's simulator; takes as many cycles as under Verilator.

    `top` is the accelerator if it is not that of `config`.  The constructor raises
    `EnvironmentProblem` when there is no C++ compiler for the memory model, and `ValueError` for a
    timing or a size that no memory has.
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
        super().__init__(
            Setup(config, timing, memory_bytes, progress), library, handle, bench.watchdog
        )
        self._limits = (MEMORY_BASE, MEMORY_BASE + memory_bytes - 1)
        self._top: Any = top or import_module("celosia.hw.top").Top(config, memory_seed=timing.seed)
        self._edges = self._resetting = 0
        self._inspection = Inspection()
        self._simulator = self._make_simulator()
        self._reset()

    def _make_simulator(self) -> Simulator:
        m = Module()
        self._domain: Any = ClockDomain("sync")
        m.domains.sync = self._domain
        m.submodules.top = self._top
        # Packed and unpacked by the simulated design, which is compiled; a testbench is not.
        self._chip = Signal(8 * sizeof(ChipPins))
        self._pins = Signal(8 * sizeof(BenchPins))
        m.d.comb += [
            self._chip.eq(Cat(_packed(ChipPins, _chip_values(self._top)))),
            Cat(_packed(BenchPins, _bench_values(self._top))).eq(self._pins),
        ]
        simulator = Simulator(m)
        simulator.add_clock(_PERIOD, domain="sync")
        simulator.add_testbench(self._bench, background=True)
        return simulator

    async def _bench(self, ctx: Any) -> None:
        """Exchange pins with the bench at every rising edge, for ever."""
        inspection = Cat(_packed(Inspection, _inspection_values(self._top)))
        sampled, driven = ChipPins(), BenchPins()
        limits, shown = None, b""
        while True:
            if self._resetting:
                ctx.set(self._pins, 0)
                ctx.set(self._domain.rst, 1)
                for _ in range(self._resetting):
                    await ctx.tick()
                ctx.set(self._domain.rst, 0)
                self._resetting, shown = 0, b""
                self._inspection = _unpacked(Inspection, ctx.get(inspection))
            if limits != self._limits:
                limits = self._limits
                self._set_limits(ctx)
            *_, word = await ctx.tick().sample(self._chip)
            if self._resetting:
                continue
            memmove(byref(sampled), word.to_bytes(sizeof(ChipPins), "little"), sizeof(ChipPins))
            running = self._library.celosia_edge(self._handle, byref(sampled), byref(driven))
            image = string_at(addressof(driven), sizeof(BenchPins))
            if image != shown:
                ctx.set(self._pins, int.from_bytes(image, "little"))
                shown = image
            self._edges -= 1
            if not running:
                self._edges = 0
                self._inspection = _unpacked(Inspection, ctx.get(inspection))

    def _set_limits(self, ctx: Any) -> None:
        base, limit = self._limits
        for kind in ("read", "write"):
            ctx.set(getattr(self._top, f"{kind}_base"), base)
            ctx.set(getattr(self._top, f"{kind}_limit"), limit)

    def permit(self, base: int, limit: int) -> None:
        self._limits = (base, limit)

    def _advance(self, edges: int) -> None:
        self._edges = edges
        try:
            while self._edges > 0:
                self._simulator.advance()
        except AssertionError as error:
            self._library.celosia_stop(self._open(), State.ASSERTION, str(error).encode())

    def _inspect(self) -> Inspection:
        return self._inspection

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


def _unpacked(structure: type[Structure], word: int) -> Any:
    return structure.from_buffer_copy(word.to_bytes(sizeof(structure), "little"))


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
        "progress": top.counter_array_rows + top.counter_array_padding,
        "cmd_ready": top.cmd_ready,
        "busy": top.busy,
        "error_cause": top.error_cause,
    }


def _address(top: Any, channel: str) -> dict[str, Any]:
    fields = {
        "address": "addr",
        "beats_minus_1": "len",
        "size": "size",
        "burst": "burst",
        "id": "id",
    }
    return {name: getattr(top, f"m_axi_{channel}{port}") for name, port in fields.items()}


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
    }


def _inspection_values(top: Any) -> dict[str, Any]:
    return {
        "error_address": top.error_address,
        "error_tag": top.error_tag,
        "error_cause": top.error_cause,
        "busy": top.busy,
        "queued": [getattr(top, f"queued_{unit}") for unit in UNITS],
        "waits": [getattr(top, f"waits_{unit}") for unit in UNITS],
        "counters": [getattr(top, f"counter_{counter.name}") for counter in COUNTERS],
    }
