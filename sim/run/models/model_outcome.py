"""What the run of a model has shown, and its JSON document."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, TypeAlias

from celosia.isa.documents.record import Hidden, Key, Named
from celosia.sim.run.models.distances import Distance
from celosia.sim.run.models.loss_notes import OutputLoss
from celosia.sim.run.models.time_share import PlacementInTime, TimeShare
from celosia.sim.run.outcome import Outcome
from celosia.sim.run.report import Report
from celosia.sw.passes.rounded_scales import added
from celosia.sw.quantize.units.placement import Placement
from celosia.sw.scheduling.memory.memory_plan import MemoryPlan

__all__ = ["ModelOutcome", "Run", "whole_report"]


@dataclass(frozen=True, kw_only=True)
class ModelOutcome(Outcome):
    """What a run has shown."""

    reports: Hidden[tuple[Report, ...]]
    """One for each segment."""
    placement: Hidden[Placement]
    distances: Annotated[tuple[Distance, ...], Named("outputs")]
    """How far each output is from that of the float graph."""
    losses: OutputLoss | None = None
    """Where most is lost of the output that lacks most; null: none has less than 20 dB, or 2 dB
    less than with exact functions."""
    saturated: Counter[str]
    """Elements at the ends of their type's range, by the node that computes them."""
    host: Counter[str]
    """Operators of the host by kind."""
    notes: tuple[str, ...]
    """What was random, converted or left open."""
    time: Hidden[TimeShare | None] = None
    """Predicted shares of the time; None: nothing was predicted."""

    @Key
    def workload(self) -> str:
        """What ran: the name of a workload, or the file of a program or a model."""
        return self.report.setting.workload

    @Key
    def nodes(self) -> Annotated[PlacementInTime, Named("placement")]:
        """Where each node of the file runs, and the time that is predicted."""
        return PlacementInTime(self.placement, self.time)

    @Key
    def memory_plans(self) -> list[MemoryPlan]:
        """How each segment used bytes again; none: each tensor had its own."""
        return [each.memory_plan for each in self.reports if each.memory_plan]

    @property
    def right(self) -> bool:
        """Whether no element that was compared was another one than the integer graph has."""
        return all(report.right for report in self.reports)


Run: TypeAlias = Outcome | ModelOutcome
"""What `celosia run` writes."""


def whole_report(reports: Sequence[Report]) -> Report:
    """The report of the only segment, or one of all segments, each a program of its own."""
    if len(reports) == 1:
        return reports[0]
    return Report(
        setting=reports[0].setting,
        operators=tuple(report.total for report in reports),
        rounded_scales=added(report.rounded_scales for report in reports),
        elapsed_seconds=sum(report.elapsed_seconds for report in reports),
    )
