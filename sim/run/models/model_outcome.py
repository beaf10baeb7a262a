"""What the run of a model has shown, and its JSON document."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from celosia.sim.run.models.distances import Distance
from celosia.sim.run.models.time_share import TimeShare
from celosia.sim.run.outcome import Outcome
from celosia.sim.run.report import Report
from celosia.sim.workloads.models.placement_document import placement_document
from celosia.sw.passes.short_scales import added
from celosia.sw.quantize.units.placement import Placement

__all__ = ["ModelOutcome", "whole_report"]


@dataclass(frozen=True, kw_only=True)
class ModelOutcome(Outcome):
    """What a run has shown."""

    reports: tuple[Report, ...]
    """One for each segment."""
    placement: Placement
    distances: tuple[Distance, ...]
    saturated: Counter[str]
    host: Counter[str]
    """Operators of the host by kind."""
    notes: tuple[str, ...]
    time: TimeShare | None = None
    """Predicted shares of the time; None: nothing was predicted."""

    @property
    def right(self) -> bool:
        """Whether no element that was compared was another one than the integer graph has."""
        return all(report.right for report in self.reports)

    def document(self) -> dict[str, Any]:
        """The report of the only segment, or of all, and what models add, for JSON."""
        predicted = None if self.time is None else self.time.document()
        return super().document() | {
            "workload": self.report.setting.workload,
            "placement": placement_document(self.placement, predicted),
            "outputs": [_distance(each) for each in self.distances],
            "saturated": dict(self.saturated),
            "host": dict(self.host),
            "notes": list(self.notes),
            "memory_plans": [
                each.memory_plan.document() for each in self.reports if each.memory_plan
            ],
        }


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


def _distance(found: Distance) -> dict[str, Any]:
    return {
        "name": found.name,
        "sqnr_db": _finite(found.sqnr_db),
        "exact_sqnr_db": _finite(found.exact_sqnr_db),
        "cosine": found.cosine,
        "top1": found.top1,
        "rows": {
            "counted": found.counted.rows,
            "of": found.counted.of,
            "spans": [list(span) for span in found.counted.spans],
            "elements": found.counted.elements,
        },
        "all_rows_sqnr_db": _finite(found.all_sqnr_db),
        "all_rows_cosine": found.all_cosine,
        "pooled_cosine": found.pooled_cosine,
    }


def _finite(number: float) -> float | None:
    return number if isfinite(number) else None
