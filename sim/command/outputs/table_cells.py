"""What the cells of several tables have in common."""

from typing import Final

from rich.markup import escape

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sim.run.options.options import Check
from celosia.sim.run.report import Measurement, Setting

__all__ = [
    "NOTHING",
    "judged",
    "memory_caption",
    "mismatches",
    "percent",
    "run_caption",
    "run_title",
    "whole",
]

NOTHING: Final = "-"

_UNCHECKED: Final[dict[Check, str]] = {
    "all": "",
    "outputs": "; only outputs were compared",
    "none": "; nothing was compared",
}


def run_title(setting: Setting) -> str:
    """What was run, and on what."""
    return f"{escape(setting.workload)} on {escape(setting.preset)}, {setting.simulator}"


def run_caption(setting: Setting) -> str:
    """The memory, how commands came, and what was not compared."""
    timing = setting.timing
    return (
        memory_caption(timing, setting.config)
        + (f", {timing.stall_percent} % stalls" if timing.stall_percent else "")
        + ("; commands from a ring" if setting.issue == "ring" else "")
        + _UNCHECKED[setting.check]
    )


def memory_caption(timing: MemoryTiming, config: AcceleratorConfig) -> str:
    """Latency and rate: what passes is what the slower one of memory and bus carries."""
    memory, bus = timing.bytes_per_cycle, config.bus_bytes
    text = f"memory: latency {timing.latency}, {min(memory, bus)} bytes per cycle"
    if memory > bus:
        return f"{text} (bus; memory: {memory})"
    return text if memory == bus else f"{text} (memory; bus: {bus})"


def mismatches(part: Measurement) -> str:
    """Wrong elements, of how many, if any were compared."""
    if part.mismatches is None:
        return NOTHING
    return judged(part.right, f"{part.mismatches:,} of {part.elements_checked:,}")


def judged(right: bool, text: str) -> str:
    """A text in the color of what is right, or of what is not."""
    return f"[{'green' if right else 'red'}]{text}[/]"


def percent(share: float | None) -> str:
    """A share of 1 for people."""
    return NOTHING if share is None else f"{share:.2%}"


def whole(number: int | None) -> str:
    """A whole number for people."""
    return NOTHING if number is None else f"{number:,}"
