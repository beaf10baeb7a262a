"""What it costs to follow each instruction: how much slower a run is, and how large its trace."""

from dataclasses import dataclass, replace
from statistics import median
from typing import Annotated, Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.documents.record import Count, Hidden, Key, Rule
from celosia.lab.bench.line import Lines
from celosia.sim.reporting.trace import trace
from celosia.sim.run.options.options import RunOptions, Watching
from celosia.sim.run.outcome import Runner
from celosia.sim.run.report import Cycles, Report
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

    plain: Annotated[float, Rule(minimum=0)]
    """The speed of the run as such."""
    followed: Annotated[float, Rule(minimum=0)]
    """The speed of the run whose instructions are followed."""

    @property
    def slower(self) -> float:
        """How much more time the followed run takes."""
        return self.plain / self.followed - 1


@dataclass(frozen=True, kw_only=True)
class TraceLine:
    """A workload, followed and not."""

    name: str
    """What ran."""
    cycles: Cycles
    """Its cycles."""
    trace_bytes: Count
    """Bytes of its trace."""
    pairs: Annotated[tuple[TracePair, ...], Rule(minItems=1)]
    """Measurements, each with and without, in turns."""
    same: Hidden[bool]
    """Every run was right, and took as many cycles."""

    @Key
    def slower(self) -> float:
        """Processor time that the followed run takes more, as a share: the median of the pairs."""
        return median(pair.slower for pair in self.pairs)

    @Key
    def megabytes_per_million_cycles(self) -> float:
        """The size of the trace."""
        return self.trace_bytes / self.cycles

    @Key
    def right(self) -> bool:
        """Both bounds are kept, and nothing else has changed."""
        return self.same and self.slower <= SLOWER and self.megabytes_per_million_cycles < MEGABYTES


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
    return report.total.sim_cycles_per_second or 0.0
