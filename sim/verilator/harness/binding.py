"""The C structures and functions of `bench.h` and `harness.cpp`, for ctypes.

The structures repeat those of the C++ headers field by field; a test compares their sizes.
"""

import ctypes
from ctypes import POINTER, Structure, c_char, c_char_p, c_uint8, c_uint32, c_uint64, c_void_p
from enum import IntEnum
from pathlib import Path

from celosia.isa.memory import CHANNELS

__all__ = [
    "LOG_ACTIVITIES",
    "LOG_QUEUES",
    "LOG_SLOTS",
    "MAX_BUS_BYTES",
    "MOMENTS",
    "RESET_EDGES",
    "Access",
    "Address",
    "BenchConfig",
    "BenchPins",
    "ChipPins",
    "Command",
    "Fault",
    "Goal",
    "LiteHostPins",
    "LiteSlavePins",
    "LogPins",
    "LogView",
    "LoggedOperation",
    "MasterPins",
    "MemoryConfig",
    "MemoryCounts",
    "MemoryPins",
    "Observed",
    "OwnerSpan",
    "State",
    "Status",
    "bind",
]

MAX_BUS_BYTES = 64
RESET_EDGES = 4

LOG_QUEUES = 4
"""Queues whose operations are logged."""
MOMENTS = ("entered", "started", "began", "read", "done")
"""The moments of an operation that are logged: its queue takes it, its unit takes it, the array
turns to it, it has read, it has written."""
LOG_SLOTS = 1024
"""Parts of a run for which activity is summed up."""
LOG_ACTIVITIES = 64
"""Things that are busy or not, at most."""


class State(IntEnum):
    """How far a run is."""

    IDLE = 0
    RUNNING = 1
    DONE = 2
    ERROR_REGISTER = 3
    WATCHDOG = 4
    PROTOCOL = 5
    ASSERTION = 6


class Goal(IntEnum):
    """What a simulation waits for."""

    RUN_OVER = 0
    ACCESS_OVER = 1
    INTERRUPT = 2
    """An interrupt, or the end of the run."""
    OFFERED = 3
    """Every command of the stream is on offer, or taken."""


class Address(Structure):
    """The signals of an address channel, AR or AW."""

    _fields_ = [
        ("address", c_uint64),
        ("beats_minus_1", c_uint8),
        ("size", c_uint8),
        ("burst", c_uint8),
        ("id", c_uint8),
        ("lock", c_uint8),
        ("cache", c_uint8),
        ("protection", c_uint8),
        ("quality", c_uint8),
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
        ("seed", c_uint64),
        ("bus_bytes", c_uint32),
        ("latency", c_uint32),
        ("bytes_per_cycle", c_uint32),
        ("stall_percent", c_uint8 * len(CHANNELS)),
        ("reorder", c_uint8),
        ("ready_after_valid", c_uint8),
        ("zero", c_uint8 * 5),
    ]


class Fault(Structure):
    """Which bursts fail; `model.h` says exactly."""

    _fields_ = [
        ("place", c_uint64),
        ("write", c_uint8),
        ("by_number", c_uint8),
        ("response", c_uint8),
        ("zero", c_uint8 * 5),
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


class LiteSlavePins(Structure):
    """What the accelerator drives on its register port."""

    _fields_ = [
        ("r_data", c_uint32),
        ("aw_ready", c_uint8),
        ("w_ready", c_uint8),
        ("b_valid", c_uint8),
        ("b_response", c_uint8),
        ("ar_ready", c_uint8),
        ("r_valid", c_uint8),
        ("r_response", c_uint8),
        ("zero", c_uint8 * 5),
    ]


class LiteHostPins(Structure):
    """What the host drives on the register port."""

    _fields_ = [
        ("aw_address", c_uint32),
        ("w_data", c_uint32),
        ("ar_address", c_uint32),
        ("aw_valid", c_uint8),
        ("w_valid", c_uint8),
        ("w_strobe", c_uint8),
        ("b_ready", c_uint8),
        ("ar_valid", c_uint8),
        ("r_ready", c_uint8),
        ("zero", c_uint8 * 6),
    ]


class Access(Structure):
    """A register access."""

    _fields_ = [
        ("write", c_uint32),
        ("address", c_uint32),
        ("data", c_uint32),
        ("strobe", c_uint32),
    ]


class Command(Structure):
    """A command as it stands in a ring."""

    _fields_ = [("funct", c_uint32), ("zero", c_uint32), ("rs1", c_uint64), ("rs2", c_uint64)]


class BenchConfig(Structure):
    """Memory, watchdog and the host of the registers."""

    _fields_ = [
        ("memory", MemoryConfig),
        ("watchdog", c_uint64),
        ("host_stall_percent", c_uint32),
        ("doorbell", c_uint32),
    ]


class ChipPins(Structure):
    """What the accelerator drives, as one edge sees it."""

    _fields_ = [
        ("memory", MasterPins),
        ("lite", LiteSlavePins),
        ("cmd_ready", c_uint8),
        ("busy", c_uint8),
        ("error", c_uint8),
        ("progress", c_uint8),
        ("interrupt", c_uint8),
        ("zero", c_uint8 * 3),
    ]


class BenchPins(Structure):
    """What the bench drives."""

    _fields_ = [
        ("memory", MemoryPins),
        ("command", Command),
        ("lite", LiteHostPins),
        ("command_valid", c_uint8),
        ("zero", c_uint8 * 7),
    ]


class Observed(Structure):
    """The products that begin and end, and what is to be counted."""

    _fields_ = [
        ("begins", c_uint8),
        ("ends", c_uint8),
        ("zero", c_uint8 * 2),
        ("tag", c_uint32),
        ("counted", c_uint8 * 8),
    ]


class LogPins(Structure):
    """What the log sees of one edge; `log.h` says exactly."""

    _fields_ = [
        ("owners", c_uint64),
        ("activity", c_uint64),
        ("events", c_uint32),
        ("tag", c_uint32),
    ]


class LoggedOperation(Structure):
    """When an operation passed each of `MOMENTS`."""

    _fields_ = [("tag", c_uint32), ("edges", c_uint32 * len(MOMENTS))]


class OwnerSpan(Structure):
    """An edge from which on an owner has the cycles of a resource."""

    _fields_ = [
        ("edge", c_uint32),
        ("resource", c_uint8),
        ("owner", c_uint8),
        ("zero", c_uint8 * 2),
    ]


class LogView(Structure):
    """The log of a run."""

    _fields_ = [
        ("operations", POINTER(LoggedOperation) * LOG_QUEUES),
        ("counts", c_uint64 * LOG_QUEUES),
        ("spans", POINTER(OwnerSpan)),
        ("span_count", c_uint64),
        ("slots", POINTER(c_uint32)),
        ("first_edge", c_uint64),
        ("lost", c_uint64),
        ("slot_edges", c_uint32),
        ("zero", c_uint32),
    ]


class Status(Structure):
    """How a run stands."""

    _fields_ = [
        ("state", c_uint32),
        ("accessing", c_uint32),
        ("interrupt", c_uint32),
        ("response", c_uint32),
        ("data", c_uint32),
        ("reads_in_flight", c_uint32),
        ("writes_in_flight", c_uint32),
        ("zero", c_uint32),
        ("cycles", c_uint64),
        ("now", c_uint64),
        ("accepted", c_uint64),
        ("counts", MemoryCounts),
        ("message", c_char * 256),
    ]


_FUNCTIONS: dict[str, tuple[type | None, list[type]]] = {
    "celosia_destroy": (None, [c_void_p]),
    "celosia_reset": (None, [c_void_p]),
    "celosia_memory": (c_void_p, [c_void_p]),
    "celosia_load": (None, [c_void_p, c_void_p, c_uint64]),
    "celosia_load_ring": (None, [c_void_p]),
    "celosia_end_ring": (None, [c_void_p]),
    "celosia_mark": (
        None,
        [c_void_p, POINTER(c_uint64), c_uint64, c_uint32, POINTER(c_uint8), c_uint32],
    ),
    "celosia_marked": (c_uint64, [c_void_p, POINTER(c_uint64)]),
    "celosia_access": (None, [c_void_p, POINTER(Access)]),
    "celosia_towards": (c_uint32, [c_void_p, c_uint32]),
    "celosia_add_fault": (None, [c_void_p, POINTER(Fault)]),
    "celosia_forget_faults": (None, [c_void_p]),
    "celosia_status": (None, [c_void_p, POINTER(Status)]),
    "celosia_keep_log": (None, [c_void_p, c_uint64, c_uint64]),
    "celosia_view_log": (None, [c_void_p, POINTER(LogView)]),
    # Functions of the Verilator harness:
    "celosia_observable": (c_uint32, []),
    "celosia_run": (None, [c_void_p, c_uint64, c_uint32]),
    # Functions of the library without an accelerator:
    "celosia_stop": (None, [c_void_p, c_uint32, c_char_p]),
    "celosia_edge": (c_uint32, [c_void_p, POINTER(ChipPins), POINTER(BenchPins), c_uint32]),
    "celosia_observe": (None, [c_void_p, POINTER(Observed)]),
    "celosia_note": (None, [c_void_p, POINTER(LogPins)]),
    "memory_create": (c_void_p, [POINTER(MemoryConfig)]),
    "memory_destroy": (None, [c_void_p]),
    "memory_data": (c_void_p, [c_void_p]),
    "memory_error": (c_char_p, [c_void_p]),
    "memory_edge": (None, [c_void_p, POINTER(MasterPins), POINTER(MemoryPins)]),
    "memory_counts": (None, [c_void_p, POINTER(MemoryCounts)]),
    "memory_add_fault": (None, [c_void_p, POINTER(Fault)]),
    "memory_forget_faults": (None, [c_void_p]),
    "lite_create": (c_void_p, [c_uint64, c_uint32, c_uint32]),
    "lite_destroy": (None, [c_void_p]),
    "lite_error": (c_char_p, [c_void_p]),
    "lite_active": (c_uint32, [c_void_p]),
    "lite_response": (c_uint32, [c_void_p, POINTER(c_uint32)]),
    "lite_start": (None, [c_void_p, POINTER(Access)]),
    "lite_edge": (None, [c_void_p, POINTER(LiteSlavePins), POINTER(LiteHostPins)]),
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
