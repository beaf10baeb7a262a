"""What the compiler's cost model expects of the same products on other hardware."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from celosia.isa.config import AcceleratorConfig, ConfigError
from celosia.isa.memory import MemoryTiming
from celosia.sim.profile.losses import losses
from celosia.sw.ir.matmul import MatMul
from celosia.sw.matmul.schedule_matmul import schedule_matmul
from celosia.sw.plan import product_cycles

__all__ = ["DEEPER_QUEUES", "Change", "what_if"]

DEEPER_QUEUES: Final = "queues of twice the depth"
"""A change of a graph's hardware."""

_CAUSES: Final[Mapping[str, tuple[str, ...]]] = {
    "latency": ("wait_load_latency", "wait_load_requests", "wait_token", "wait_queue_", "drain"),
    "requests": ("wait_load_latency", "wait_load_requests", "wait_queue_", "drain"),
    "queues": ("wait_queue_", "wait_issue", "wait_command"),
}
"""What owners begin with that a change is about, by a word of it; others may be about any."""
_WORTH: Final = 0.0005
"""Of a run: what saves less is left out."""


@dataclass(frozen=True)
class Change:
    """Another accelerator or memory, and the cycles that it is expected to save."""

    what: str
    saved: int
    before: int
    """Cycles that the model expects of the run as it was."""
    at_most: bool = False
    """The model expects more, but the run has lost no more for such a cause."""

    def __str__(self) -> str:
        most = "at most " if self.at_most else ""
        return f"{self.what}: {most}{self.saved:,} cycles fewer ({self.saved / self.before:.1%})"


def what_if(document: Mapping[str, Any]) -> list[Change]:
    """Changes that would help a run, the best first.

    Those of products are predicted here, with a schedule of their own; those of a graph were when
    it ran, with the same program.  On the same array none saves more than what the run has lost for
    causes that it is about.
    """
    if stored := [Change(**change) for change in document.get("changes", ())]:
        return _worthwhile([_possible(change, document) for change in stored])
    problems = [MatMul(**part["problem"]) for part in document["operators"] if part.get("problem")]
    if not problems or len(problems) != len(document["operators"]):
        return []
    config = AcceleratorConfig(**document["config"])
    memory = document["memory"]
    timing = MemoryTiming(latency=memory["latency"], bytes_per_cycle=memory["bytes_per_cycle"])
    before = _cycles(problems, config, timing)
    found = []
    for what, other, other_timing in _candidates(config, timing):
        saved = before - _cycles(problems, other, other_timing)
        change = Change(what, saved, before)
        found.append(change if other.dim != config.dim else _possible(change, document))
    return _worthwhile(found)


def _possible(change: Change, document: Mapping[str, Any]) -> Change:
    """`change`, which saves at most what was lost for such a cause."""
    about = next((owners for word, owners in _CAUSES.items() if word in change.what), None)
    lost = sum(
        loss.cycles for loss in losses(document) if about is None or loss.owner.startswith(about)
    )
    if change.saved <= lost:
        return change
    return replace(change, saved=lost, at_most=True)


def _worthwhile(changes: list[Change]) -> list[Change]:
    kept = [change for change in changes if change.saved >= _WORTH * change.before]
    return sorted(kept, key=lambda change: -change.saved)


def _cycles(problems: list[MatMul], config: AcceleratorConfig, timing: MemoryTiming) -> int:
    return sum(
        product_cycles(problem, config, schedule_matmul(problem, config, timing), timing)
        for problem in problems
    )


def _candidates(
    config: AcceleratorConfig, timing: MemoryTiming
) -> Iterator[tuple[str, AcceleratorConfig, MemoryTiming]]:
    rate = 2 * timing.bytes_per_cycle
    wide = max(config.bus_bits, 8 * rate)
    for what, values, memory in (
        (f"{2 * config.scratchpad_kib} KiB of scratchpad", {"scratchpad_kib": 2}, timing),
        (f"{2 * config.accumulator_kib} KiB of accumulator", {"accumulator_kib": 2}, timing),
        (f"memory of half the latency, {timing.latency // 2}", {}, _faster(timing)),
        (
            f"memory of {rate} bytes per cycle",
            {"bus_bits": 0},
            replace(timing, bytes_per_cycle=rate),
        ),
        (f"an array of {2 * config.dim}x{2 * config.dim}", {"dim": 2}, timing),
    ):
        scaled = {
            name: wide if name == "bus_bits" else factor * getattr(config, name)
            for name, factor in values.items()
        }
        try:
            yield what, config.with_values(scaled), memory
        except ConfigError:
            continue  # There is no such accelerator.


def _faster(timing: MemoryTiming) -> MemoryTiming:
    return replace(timing, latency=max(1, timing.latency // 2))
