"""What a run has shown, and what its report says of its options."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from celosia.isa.config import AcceleratorConfig
from celosia.isa.documents.record import Hidden, Inline, Record
from celosia.sim.run.options.options import RunOptions
from celosia.sim.run.origin import Origin
from celosia.sim.run.report import Report, Setting
from celosia.sim.support.progress import Progress

__all__ = ["Outcome", "Runner", "setting_of"]


@dataclass(frozen=True)
class Outcome(Record):
    """A report, and the last operator's result as it stood in device memory."""

    report: Inline[Report]
    result: Hidden[NDArray[Any] | None] = None

    def _repr_html_(self) -> str:
        """The report's table, for notebooks."""
        return self.report._repr_html_()


Runner = Callable[[RunOptions, Progress], Outcome]
"""`run_workload`, or what takes its place in a test."""


def setting_of(options: RunOptions, preset: str, config: AcceleratorConfig) -> Setting:
    """What the report says of these options."""
    target = options.target
    return Setting(
        workload=options.workload,
        preset=preset,
        simulator=target.simulator,
        config=config,
        timing=target.timing,
        issue=target.issue,
        cycle_budget=target.cycle_budget,
        check=options.watching.check,
        origin=Origin(command_line=options.told.command_line),
    )
