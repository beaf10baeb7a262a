"""What it costs to follow each instruction: how much slower a run is, and how large its trace."""

from dataclasses import asdict, dataclass, replace
from statistics import median
from typing import Any, Final

from celosia.isa.config import AcceleratorConfig
from celosia.lab.bench.line import Lines
from celosia.sim.reporting.trace import trace
from celosia.sim.run.options.options import RunOptions, Watching
from celosia.sim.run.outcome import Runner
from celosia.sim.run.report import Report
from celosia.sim.run.workload.run import run_workload
from celosia.sim.support.display import Steps
from celosia.sim.support.progress import Progress
from celosia.sim.workloads.details import Attention, Matmul

__all__ = [
    "MEGABYTES",
    "SLOWER",
    "TraceLine",
    "TracePair",
    "run_traces",
]

SLOWER: Final = 0.20
"""Processor time that a followed run may take more."""
MEGABYTES: Final = 5.0
"""Megabytes of trace for a million cycles that a trace must stay below."""
PAIRS: Final = 5

WORKLOADS: Final = {
    "512x768x768": RunOptions(workload="matmul", details=Matmul(shape="512x768x768")),
    "attention, 12 heads of 64, l = 128": RunOptions(
        workload="attention", details=Attention(heads=12, seq=128, dim=64)
    ),
}
"""What is measured: long products, and many short ones with transforms between them."""


@dataclass(frozen=True)
class TracePair:
    """Cycles per second of processor time, measured one after the other."""

    plain: float
    followed: float

    @property
    def slower(self) -> float:
        """How much more time the followed run takes."""
        return self.plain / self.followed - 1


@dataclass(frozen=True, kw_only=True)
class TraceLine:
    """A workload, followed and not."""

    name: str
    cycles: int
    trace_bytes: int
    pairs: tuple[TracePair, ...]
    same: bool
    """Every run was right, and took as many cycles."""

    @property
    def slower(self) -> float:
        """The median of the pairs."""
        return median(pair.slower for pair in self.pairs)

    @property
    def megabytes(self) -> float:
        """Megabytes of trace for a million cycles."""
        return self.trace_bytes / self.cycles

    @property
    def right(self) -> bool:
        """Both bounds are kept, and nothing else has changed."""
        return self.same and self.slower <= SLOWER and self.megabytes < MEGABYTES

    def document(self) -> dict[str, Any]:
        """The line as an object for JSON."""
        return {
            "name": self.name,
            "cycles": self.cycles,
            "trace_bytes": self.trace_bytes,
            "megabytes_per_million_cycles": self.megabytes,
            "slower": self.slower,
            "pairs": [asdict(pair) for pair in self.pairs],
            "right": self.right,
        }


def run_traces(
    tell: Progress, runner: Runner = run_workload, pairs: int = PAIRS
) -> Lines[TraceLine]:
    """Measure each of `WORKLOADS` so often, in turns."""
    steps = Steps(tell, len(WORKLOADS))
    lines = []
    for name, options in WORKLOADS.items():
        steps.begin(name)
        reports = [
            (
                runner(options, steps).report,
                runner(replace(options, watching=Watching(log=True)), steps).report,
            )
            for _ in range(pairs)
        ]
        lines.append(_line(name, reports))
    return Lines(tuple(lines))


def _line(name: str, reports: list[tuple[Report, Report]]) -> TraceLine:
    both = [report for pair in reports for report in pair]
    _, followed = reports[-1]
    cycles = followed.total.cycles or 0
    profile = followed.profile
    assert profile is not None
    config: AcceleratorConfig = followed.setting.config
    return TraceLine(
        name=name,
        cycles=cycles,
        trace_bytes=len(trace(profile, config)),
        pairs=tuple(TracePair(*(_speed(report) for report in pair)) for pair in reports),
        same=all(report.right and report.total.cycles == cycles for report in both),
    )


def _speed(report: Report) -> float:
    return report.total.cycles_per_second or 0.0
