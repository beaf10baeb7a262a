"""What a device is set up with: its memory and its bench, for `harness/bench.h`."""

from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import CHANNELS, MEMORY_BASE, MemoryFault, MemoryTiming
from celosia.isa.registers.map import REGISTERS
from celosia.sim.verilator.harness.binding import BenchConfig, Fault, MemoryConfig

__all__ = [
    "RING_BYTES",
    "WATCHDOG_EDGES",
    "WATCHDOG_LATENCIES",
    "WATCHDOG_MARGIN",
    "bench_config",
    "fault",
    "memory_config",
    "patience",
    "ring_base",
]

RING_BYTES: Final = 1 << 16
"""Bytes for the command ring, in memory behind what programs use."""

WATCHDOG_EDGES = 20_000
WATCHDOG_LATENCIES: Final = 100
"""A run is given up after so many cycles, and memory latencies, without any progress."""
WATCHDOG_MARGIN: Final = 1_000
"""Cycles that the accelerator's watchdog has to do its work before the bench's own."""

_RING_ALIGNMENT: Final = 4096


def memory_config(
    config: AcceleratorConfig, timing: MemoryTiming, memory_bytes: int
) -> MemoryConfig:
    """A memory of so many bytes.  Raises `ValueError` for a timing that no memory has."""
    for name, value, low, high in (
        ("latency", timing.latency, 1, 1_000_000),
        ("bytes_per_cycle", timing.bytes_per_cycle, 1, 1 << 20),
        ("stall_percent", timing.stall_percent, 0, 95),
        *((f"stalls of channel {name}", value, 0, 95) for name, value in timing.channel_stalls),
        ("seed", timing.seed, 0, (1 << 64) - 1),
        ("memory_bytes", memory_bytes, 1, 1 << 40),
    ):
        if not low <= value <= high:
            raise ValueError(f"{name}: {value} is not in {low}..{high}")
    if unknown := dict(timing.channel_stalls).keys() - set(CHANNELS):
        raise ValueError(f"channel {min(unknown)}: not one of {', '.join(CHANNELS)}")
    return MemoryConfig(
        base=MEMORY_BASE,
        bytes=memory_bytes,
        seed=timing.seed,
        bus_bytes=config.bus_bytes,
        latency=timing.latency,
        bytes_per_cycle=timing.bytes_per_cycle,
        stall_percent=timing.stalls(),
        reorder=timing.reorder,
        ready_after_valid=timing.ready_after_valid,
    )


def bench_config(config: AcceleratorConfig, timing: MemoryTiming, memory_bytes: int) -> BenchConfig:
    """The bench of a device, with the ring behind its memory.

    It waits longer than the accelerator's own watchdog (`patience`), to let that one speak.
    """
    size = ring_base(memory_bytes) + RING_BYTES - MEMORY_BASE
    return BenchConfig(
        memory=memory_config(config, timing, size),
        watchdog=patience(config, timing) + WATCHDOG_MARGIN,
        host_stall_percent=timing.stall_percent,
        doorbell=REGISTERS["RING_DOORBELL"].offset,
    )


def patience(config: AcceleratorConfig, timing: MemoryTiming) -> int:
    """Cycles without progress until a run is given up: more with a slower memory or fewer lanes.

    Progress is a command that is accepted, or a transfer: a queue of long transforms makes none.
    """
    return WATCHDOG_EDGES * config.row_parts + WATCHDOG_LATENCIES * timing.latency


def ring_base(memory_bytes: int) -> int:
    """Where the ring of a device with so much memory begins."""
    return MEMORY_BASE + -(-memory_bytes // _RING_ALIGNMENT) * _RING_ALIGNMENT


def fault(given: MemoryFault) -> Fault:
    """`given` as the memory model takes it.  Raises `ValueError` for a place that there is not."""
    if not 0 <= given.place < 1 << 64:
        raise ValueError(f"memory fault: {given.place} is not in 0..{(1 << 64) - 1:#x}")
    return Fault(
        place=given.place,
        write=given.way == "write",
        by_number=given.by_number,
        response={"slverr": 2, "decerr": 3}[given.response],
    )
