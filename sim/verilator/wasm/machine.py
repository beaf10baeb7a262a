"""What JavaScript must know of a configuration to run programs on its module (`host.js`).

All of it is taken from the records that the native simulator is driven by, so that nothing is
written twice.
"""

import base64
from ctypes import Structure, sizeof
from typing import Any, Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import RING_ENTRY
from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.isa.registers.errors import ERROR_BITS, Cause, describe
from celosia.isa.registers.events import COUNTERS
from celosia.isa.registers.map import REGISTERS
from celosia.sim.verilator.harness.binding import BenchConfig, Goal, MemoryConfig, State, Status
from celosia.sim.verilator.harness.settings import (
    WATCHDOG_LATENCIES,
    WATCHDOG_MARGIN,
    bench_config,
    patience,
)
from celosia.sim.verilator.wasm.watched import watched_words
from celosia.sw.driver.host import Host, Range

__all__ = ["SOURCES", "machine"]

SOURCES: Final = ("wasi.js", "host.js", "watch.js")
"""The scripts beside this file that a page, or a test, needs; in order."""

_ACCESS_CYCLES: Final = 20_000
_WHOLE_WORD: Final = 0b1111
_SHOWN: Final = ("state", "accessing", "response", "data", "cycles", "accepted", "message")
"""What `host.js` reads of a `Status`."""


class _Writes:
    """A register port that remembers what is written, and cannot be read."""

    def __init__(self) -> None:
        self.words: list[tuple[int, int]] = []

    def read_word(self, offset: int) -> int:
        raise AssertionError(f"register {offset:#x} is read")

    def write_word(self, offset: int, word: int) -> None:
        self.words.append((offset, word))

    def wait(self, cycles: int) -> bool:
        raise AssertionError(f"{cycles} cycles are waited for")


def machine(config: AcceleratorConfig, timing: MemoryTiming, memory_bytes: int) -> dict[str, Any]:
    """A JSON document for `host.js`: a memory of so many bytes, whose timing may be changed later.

    Raises `ValueError` for a timing or a size that no memory has.
    """
    alone = MemoryTiming(latency=0)
    return {
        "bench": base64.b64encode(bytes(bench_config(config, timing, memory_bytes))).decode(),
        "benchFields": {
            "latency": BenchConfig.memory.offset + MemoryConfig.latency.offset,
            "bytesPerCycle": BenchConfig.memory.offset + MemoryConfig.bytes_per_cycle.offset,
            "watchdog": BenchConfig.watchdog.offset,
        },
        "patience": patience(config, alone),
        "patiencePerLatency": WATCHDOG_LATENCIES,
        "margin": WATCHDOG_MARGIN,
        "seed": timing.seed & 0xFFFF_FFFF,
        "before": _before(memory_bytes),
        "again": _again(),
        "watchdog": _offset("WATCHDOG"),
        "accessCycles": _ACCESS_CYCLES,
        "whole": _WHOLE_WORD,
        "goals": {"over": int(Goal.RUN_OVER), "access": int(Goal.ACCESS_OVER)},
        "status": {"size": sizeof(Status), "fields": _fields(Status, _SHOWN)},
        "states": [state.name for state in State],
        "commandBytes": RING_ENTRY.size,
        "counters": {each.name: _pair(f"COUNTER_{each.name.upper()}") for each in COUNTERS},
        "error": {
            "cause": _offset("ERROR"),
            "mask": (1 << ERROR_BITS) - 1,
            "command": _offset("ERROR_COMMAND"),
            "address": _pair("ERROR_ADDRESS"),
        },
        "causes": [f"{cause.name}: {describe(cause)}" for cause in Cause],
        "watched": watched_words(config),
    }


def _before(memory_bytes: int) -> list[tuple[int, int]]:
    """The registers that are written before a run, and their words."""
    port = _Writes()
    host, whole = Host(port), Range(MEMORY_BASE, MEMORY_BASE + memory_bytes - 1)
    host.permit(whole, whole)
    host.set_patience()
    host.begin(ring=False)
    return port.words


def _again() -> list[tuple[int, int]]:
    """The registers that are written before another run, and their words."""
    port = _Writes()
    Host(port).begin(ring=False)
    return port.words


def _fields(structure: type[Structure], names: tuple[str, ...]) -> dict[str, tuple[int, int]]:
    found = {name: getattr(structure, name) for name in names}
    return {name: (field.offset, field.size) for name, field in found.items()}


def _offset(name: str) -> int:
    return REGISTERS[name].offset


def _pair(name: str) -> tuple[int, int]:
    return _offset(f"{name}_LO"), _offset(f"{name}_HI")
