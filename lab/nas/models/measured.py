"""What is known of a point beside what a search knew."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from celosia.lab.nas.models.statistics import Interval

__all__ = ["Measured"]


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What is known of a point beside what the search knew."""

    whole: Mapping[str, float]
    """Predicted cycles of the whole model as one program, by scenario."""
    rtl: Mapping[str, int]
    """Cycles on the RTL; empty: nobody asked."""
    owners: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """By scenario, whose the array's cycles were there, by group of owners."""
    scratch: float | None = None
    """Held-out perplexity from scratch, the mean of seeds; None: nobody asked."""
    ratio: Interval | None = None
    """The held-out perplexity over the largest model's."""
