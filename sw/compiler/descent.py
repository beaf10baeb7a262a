"""Searches that follow programs: one decision after the other, until all stand."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from math import inf
from typing import TypeVar

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sw.compiler.passes import predict
from celosia.sw.ir.graph import Graph
from celosia.sw.planning.forms.plan import Plan
from celosia.sw.planning.rules.verify import PlanError
from celosia.sw.timeline.graphs import GraphCycles

__all__ = ["PlanCosts", "descended"]

T = TypeVar("T")


def descended(
    start: T,
    decisions: Sequence[Callable[[T], Iterable[T]]],
    cost: Callable[[T], int | None],
    *,
    gain: float = 0.0,
) -> T:
    """The best of what decisions lead to from `start`, each with all others as they are.

    A decision gives the alternatives to what it is given.  The first of the cheapest ones is taken,
    if it costs less by the share `gain`, until no decision changes anything.  What is not possible
    has no `cost`; from such a `start`, nothing is compared.
    """
    best, least, settled = start, cost(start), 0
    for decision in cycle(decisions):
        if least is None or settled == len(decisions):
            break
        before = best
        for other in decision(before):
            found = cost(other)
            if found is not None and found < least * (1 - gain):
                best, least = other, found
        settled = 1 if best is not before else settled + 1
    return best


@dataclass(frozen=True)
class PlanCosts:
    """The cycles that plans of `graph` are expected to take: each is followed once."""

    graph: Graph
    config: AcceleratorConfig
    timing: MemoryTiming | None
    most: float = inf
    """So many plans are followed; all others count as if they were not legal."""
    known: dict[Hashable, int | None] = field(default_factory=dict)
    """What was compared; None: it is not legal."""
    programs: dict[Hashable, GraphCycles] = field(default_factory=dict)
    """What was followed: of the plans for a product, a fourth decides what another one does."""

    def __call__(self, plan: Plan) -> int | None:
        """The cycles that `plan` is expected to take; None: it is not legal, or too late."""
        how = plan.scheduler, plan.defer, plan.spare_tiles
        key = plan.stages, how, *(ring.spans for ring in plan.rings.values())
        if key not in self.known:
            if len(self.known) == self.most:
                return None
            try:
                found = predict(self.graph, self.config, plan, self.timing, self.programs).cycles
            except PlanError:
                found = None
            self.known[key] = found
        return self.known[key]
