"""The driver of searches that follow programs: one decision after the other, until all stand."""

from collections.abc import Callable, Iterable, Sequence
from itertools import cycle
from typing import TypeVar

__all__ = ["descended"]

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
