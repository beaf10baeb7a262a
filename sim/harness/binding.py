"""The C structures and functions of `bench.h` and `harness.cpp`, for ctypes.

The structures repeat those of the C++ headers field by field; a test compares their sizes.
"""

import ctypes
from ctypes import POINTER, Structure, c_char, c_char_p, c_uint8, c_uint32, c_uint64, c_void_p
from enum import IntEnum
from pathlib import Path

from celosia.isa.config import AcceleratorConfig
from celosia.isa.events import COUNTERS
from celosia.sw.driver.device import MEMORY_BASE, MemoryTiming

__all__ = [
    "MAX_BUS_BYTES",
    "RESET_EDGES",
    "UNITS",
    "WATCHDOG_EDGES",
    "WATCHDOG_LATENCIES",
    "Address",
    "BenchConfig",
    "BenchPins",
    "ChipPins",
    "Command",
    "Inspection",
    "MasterPins",
    "MemoryConfig",
    "MemoryCounts",
    "MemoryPins",
    "State",
    "Status",
    "bench_config",
    "bind",
    "memory_config",
]

MAX_BUS_BYTES = 64
RESET_EDGES = 4
UNITS = ("load", "execute", "store")
"""The controllers, in the order of the bits of `waits_*`."""

WATCHDOG_EDGES = 20_000
WATCHDOG_LATENCIES = 100
"""A run is given up after so many cycles, and memory latencies, without any progress."""


class State(IntEnum):
    """How far a run is."""

    IDLE = 0
    RUNNING = 1
    DONE = 2
    ERROR_REGISTER = 3
    WATCHDOG = 4
    PROTOCOL = 5
    ASSERTION = 6


class Address(Structure):
    """AR or AW."""

    _fields_ = [
        ("address", c_uint64),
        ("beats_minus_1", c_uint8),
        ("size", c_uint8),
        ("burst", c_uint8),
        ("id", c_uint8),
        ("zero", c_uint32),
    ]


class MasterPins(Structure):
    """What the accelerator drives on the memory port."""

    _fields_ = [
        ("ar", Address),
        ("aw", Address),
        ("w_strobe", c_uint64),
        ("w_data", c_uint8 * MAX_BUS_BYTES),
        ("ar_valid", c_uint8),
        ("r_ready", c_uint8),
        ("aw_valid", c_uint8),
        ("w_valid", c_uint8),
        ("w_last", c_uint8),
        ("b_ready", c_uint8),
        ("zero", c_uint8 * 2),
    ]


class MemoryPins(Structure):
    """What the memory drives."""

    _fields_ = [
        ("r_data", c_uint8 * MAX_BUS_BYTES),
        ("ar_ready", c_uint8),
        ("r_valid", c_uint8),
        ("r_response", c_uint8),
        ("r_last", c_uint8),
        ("r_id", c_uint8),
        ("aw_ready", c_uint8),
        ("w_ready", c_uint8),
        ("b_valid", c_uint8),
        ("b_response", c_uint8),
        ("b_id", c_uint8),
        ("zero", c_uint8 * 6),
    ]


class MemoryConfig(Structure):
    """How the memory behaves; `model.h` says exactly."""

    _fields_ = [
        ("base", c_uint64),
        ("bytes", c_uint64),
        ("bus_bytes", c_uint32),
        ("latency", c_uint32),
        ("bytes_per_cycle", c_uint32),
        ("stall_percent", c_uint32),
        ("seed", c_uint64),
    ]


class MemoryCounts(Structure):
    """What the memory has moved since it was made."""

    _fields_ = [
        ("read_beats", c_uint64),
        ("read_bytes", c_uint64),
        ("write_beats", c_uint64),
        ("write_bytes", c_uint64),
        ("bursts_read", c_uint64),
        ("bursts_written", c_uint64),
    ]


class Command(Structure):
    """A command as it stands in a ring."""

    _fields_ = [("funct", c_uint32), ("zero", c_uint32), ("rs1", c_uint64), ("rs2", c_uint64)]


class BenchConfig(Structure):
    """Memory and watchdog."""

    _fields_ = [("memory", MemoryConfig), ("watchdog", c_uint64)]


class ChipPins(Structure):
    """What the accelerator drives, as one edge sees it."""

    _fields_ = [
        ("memory", MasterPins),
        ("progress", c_uint64),
        ("cmd_ready", c_uint8),
        ("busy", c_uint8),
        ("error_cause", c_uint8),
        ("zero", c_uint8 * 5),
    ]


class BenchPins(Structure):
    """What the bench drives."""

    _fields_ = [
        ("memory", MemoryPins),
        ("command", Command),
        ("command_valid", c_uint8),
        ("zero", c_uint8 * 7),
    ]


class Status(Structure):
    """How a run stands."""

    _fields_ = [
        ("state", c_uint32),
        ("reads_in_flight", c_uint32),
        ("writes_in_flight", c_uint32),
        ("zero", c_uint32),
        ("cycles", c_uint64),
        ("now", c_uint64),
        ("accepted", c_uint64),
        ("accepted_before", c_uint64),
        ("counts", MemoryCounts),
        ("message", c_char * 256),
    ]


class Inspection(Structure):
    """The accelerator's own outputs, read when a run is over."""

    _fields_ = [
        ("error_address", c_uint64),
        ("error_tag", c_uint32),
        ("error_cause", c_uint8),
        ("busy", c_uint8),
        ("queued", c_uint8 * len(UNITS)),
        ("waits", c_uint8 * len(UNITS)),
        ("zero", c_uint8 * 4),
        ("counters", c_uint64 * len(COUNTERS)),
    ]


_FUNCTIONS: dict[str, tuple[type | None, list[type]]] = {
    "celosia_destroy": (None, [c_void_p]),
    "celosia_reset": (None, [c_void_p]),
    "celosia_memory": (c_void_p, [c_void_p]),
    "celosia_load": (None, [c_void_p, c_void_p, c_uint64]),
    "celosia_status": (None, [c_void_p, POINTER(Status)]),
    # Of the Verilator harness:
    "celosia_run": (c_uint32, [c_void_p, c_uint64]),
    "celosia_permit": (None, [c_void_p, c_uint64, c_uint64]),
    "celosia_inspect": (None, [c_void_p, POINTER(Inspection)]),
    # Of the library without an accelerator:
    "celosia_stop": (None, [c_void_p, c_uint32, c_char_p]),
    "celosia_edge": (c_uint32, [c_void_p, POINTER(ChipPins), POINTER(BenchPins)]),
    "memory_create": (c_void_p, [POINTER(MemoryConfig)]),
    "memory_destroy": (None, [c_void_p]),
    "memory_data": (c_void_p, [c_void_p]),
    "memory_error": (c_char_p, [c_void_p]),
    "memory_edge": (None, [c_void_p, POINTER(MasterPins), POINTER(MemoryPins)]),
    "memory_counts": (None, [c_void_p, POINTER(MemoryCounts)]),
    "celosia_sizes": (None, [POINTER(c_uint32)]),
}


def bind(path: Path) -> ctypes.CDLL:
    """The library at `path`, with the types of those of the functions above that it has."""
    library = ctypes.CDLL(str(path))
    library.celosia_create.restype = c_void_p
    for name, (result, arguments) in _FUNCTIONS.items():
        if hasattr(library, name):
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
    return library


def memory_config(
    config: AcceleratorConfig, timing: MemoryTiming, memory_bytes: int
) -> MemoryConfig:
    """The memory of a device.  Raises `ValueError` for a timing that no memory has."""
    for name, value, low, high in (
        ("latency", timing.latency, 1, 1_000_000),
        ("bytes_per_cycle", timing.bytes_per_cycle, 1, 1 << 20),
        ("stall_percent", timing.stall_percent, 0, 95),
        ("seed", timing.seed, 0, (1 << 64) - 1),
        ("memory_bytes", memory_bytes, 1, 1 << 40),
    ):
        if not low <= value <= high:
            raise ValueError(f"{name}: {value} is not in {low}..{high}")
    return MemoryConfig(
        base=MEMORY_BASE,
        bytes=memory_bytes,
        bus_bytes=config.bus_bytes,
        latency=timing.latency,
        bytes_per_cycle=timing.bytes_per_cycle,
        stall_percent=timing.stall_percent,
        seed=timing.seed,
    )


def bench_config(config: AcceleratorConfig, timing: MemoryTiming, memory_bytes: int) -> BenchConfig:
    """The bench of a device; its watchdog is more patient with a slower memory."""
    patience = WATCHDOG_EDGES + WATCHDOG_LATENCIES * timing.latency
    return BenchConfig(memory=memory_config(config, timing, memory_bytes), watchdog=patience)
