"""A program that makes a unit wait for one cause, for as long as a knob says."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Command
from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS

__all__ = ["CONFIG", "Case", "Program", "half_rate", "latency"]

CONFIG = PRESETS["tiny"]
LATENCY = 12

Program = list[Command]


@dataclass(frozen=True, kw_only=True)
class Case:
    """A program with a knob, and how fast counters grow with it."""

    name: str
    program: Callable[[int], Program]
    grows: Mapping[str, float]
    """By counter, cycles for each unit of the knob."""
    knob: tuple[int, int] = (20, 50)
    config: AcceleratorConfig = CONFIG
    timing: Callable[[int], MemoryTiming] = field(
        default=lambda _: MemoryTiming(latency=LATENCY, bytes_per_cycle=CONFIG.bus_bytes)
    )


def latency(cycles: int) -> MemoryTiming:
    return MemoryTiming(latency=cycles, bytes_per_cycle=CONFIG.bus_bytes)


def half_rate(_: int) -> MemoryTiming:
    return MemoryTiming(latency=LATENCY, bytes_per_cycle=CONFIG.bus_bytes // 2)
