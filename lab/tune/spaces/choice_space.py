"""Spaces of plans to search: independent choices by name, and the plan that they make together."""

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from math import prod

from celosia.isa.memory import MemoryTiming
from celosia.sw.planning.forms.plan import Plan

__all__ = ["Choice", "ChoiceSpace"]

Choice = int | str | bool


class ChoiceSpace(ABC):
    """The plans of a graph on an accelerator."""

    @property
    def start(self) -> Mapping[str, Choice]:
        """A combination that a search does well to begin with; empty: none is known."""
        return {}

    @property
    @abstractmethod
    def choices(self) -> Mapping[str, tuple[Choice, ...]]:
        """The decisions by name, and what each may be."""

    @abstractmethod
    def nearest(self, timing: MemoryTiming) -> Mapping[str, Choice]:
        """The combination that is most like what the compiler decides for a memory."""

    @abstractmethod
    def plan(self, chosen: Mapping[str, Choice]) -> Plan:
        """The plan of one combination.  Raises `PlanError` that names the rule that it breaks."""

    @property
    def size(self) -> int:
        """The number of combinations."""
        return prod(map(len, self.choices.values()))

    def all(self, first: int = 0) -> Iterator[dict[str, Choice]]:
        """Every combination from number `first` on, the last decision changing fastest."""
        choices = self.choices
        for values in itertools.islice(itertools.product(*choices.values()), first, None):
            yield dict(zip(choices, values, strict=True))
