"""Time, not only cycles: what a workload takes, and how much of that is for the clock."""

from dataclasses import dataclass

from celosia.sim.export.silicon.timing.measure import CELL, Measured

__all__ = ["Workload", "time_us", "us_for_the_clock"]


@dataclass(frozen=True)
class Workload:
    """Something to compute, and the cycles that the timeline expects of it."""

    name: str
    cycles: int


def time_us(workload: Workload, measured: Measured) -> float:
    """What `workload` takes, in us, where a cycle is as long as the longest path."""
    return workload.cycles * measured.longest.period / 1000


def us_for_the_clock(workload: Workload, measured: Measured) -> float | None:
    """How much of that is there because a cycle is longer than a multiply-add; None: unknown."""
    cell = next((each.path for each in measured.paths if each.unit == CELL), None)
    if cell is None:
        return None
    return workload.cycles * (measured.longest.period - cell.period) / 1000
