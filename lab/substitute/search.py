"""Search for the cheapest graph that rules lead to, also through graphs that are dearer.

As MetaFlow has it (Jia et al., MLSys 2019): the cheapest graph that was not looked at is next, and
what costs more than `alpha` times the best is left.  Greedy takes the best step while there is one.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from typing import Annotated, Any, Final, Generic, TypeVar

from celosia.isa.documents.record import Named
from celosia.sw.rewriting.engine import Proofs, Rule, Step, alternatives

__all__ = ["ALPHA", "BUDGET", "Found", "Problem", "Substituted", "greedy", "search"]

ALPHA: Final = 2.0
"""How much dearer than the best a graph may be on the way."""
BUDGET: Final = 48
"""Graphs that are looked at, at most."""
PATIENCE: Final = 10
"""Graphs that are looked at behind the last one that led to a cheaper one."""

_Graph = TypeVar("_Graph")


@dataclass(frozen=True, kw_only=True)
class Problem(Generic[_Graph]):
    """What is searched."""

    rules: Sequence[Rule[Any, Any, Any]]
    cost: Callable[[_Graph], float]
    """Raises `ValueError` for a graph that is none of the possible ones."""
    key: Callable[[_Graph], Hashable]
    """Graphs with one key are one graph."""


@dataclass(frozen=True)
class Substituted:
    """A step on the way to a graph."""

    rule: str
    """The rule that was applied."""
    roots: Annotated[tuple[str, ...], Named("parts")]
    """The nodes that the replaced parts are named after."""
    cost: Annotated[float, Named("predicted_cycles")]
    """Predicted cycles of the graph behind it."""


@dataclass(frozen=True)
class Found(Generic[_Graph]):
    """The cheapest graph, and the way to it."""

    graph: _Graph
    cost: float
    steps: tuple[Substituted, ...]
    examined: int
    """Graphs that were looked at."""


def search(
    problem: Problem[_Graph],
    graph: _Graph,
    *,
    alpha: float = ALPHA,
    budget: int = BUDGET,
    progress: Callable[[int, float], object] = lambda examined, best: None,
) -> Found[_Graph]:
    """The cheapest graph of those that `budget` lets it look at, with the steps to it."""
    proofs: Proofs = {}
    best = first = Found(graph, problem.cost(graph), (), 0)
    seen, number = {problem.key(graph)}, count()
    waiting = [(first.cost, next(number), first)]
    examined = last = 0
    while waiting and examined < min(budget, last + PATIENCE):
        _, _, now = heappop(waiting)
        if now.cost > alpha * best.cost:
            break
        examined += 1
        progress(examined, best.cost)
        for found in _onwards(problem, now, proofs, seen):
            if found.cost < best.cost:
                best, last = found, examined
            if found.cost <= alpha * best.cost:
                heappush(waiting, (found.cost, next(number), found))
    return Found(best.graph, best.cost, best.steps, examined)


def greedy(problem: Problem[_Graph], graph: _Graph) -> Found[_Graph]:
    """The graph behind the best step, again and again, while a step makes it cheaper."""
    proofs: Proofs = {}
    best = Found(graph, problem.cost(graph), (), 0)
    seen = {problem.key(graph)}
    for examined in count(1):
        onwards = list(_onwards(problem, best, proofs, seen))
        cheapest = min(onwards, key=lambda found: found.cost, default=best)
        if cheapest.cost >= best.cost:
            return Found(best.graph, best.cost, best.steps, examined)
        best = cheapest
    raise AssertionError("costs fall for ever")


def _onwards(
    problem: Problem[_Graph], now: Found[_Graph], proofs: Proofs, seen: set[Hashable]
) -> Iterator[Found[_Graph]]:
    """The graphs one step from `now` that are new."""
    for rule in problem.rules:
        for step in alternatives(rule, now.graph, proofs):
            key = problem.key(step.graph)
            if key not in seen:
                seen.add(key)
                cost = _cost(problem, step)
                if cost is not None:
                    taken = Substituted(step.rule, step.roots, cost)
                    yield Found(step.graph, cost, (*now.steps, taken), 0)


def _cost(problem: Problem[_Graph], step: Step[_Graph]) -> float | None:
    try:
        return problem.cost(step.graph)
    except ValueError:
        return None
