"""Which graph of a model the next trial is for.

The promise of a graph is its gradient, as in Ansor's scheduler of tasks (Zheng et al., OSDI 2020,
section 6): cycles that recent trials have gained, and an optimistic guess that falls as trials
become many.  Ansor's guess is that as many trials again would save all of the time; here they save
a share of it, as the compiler's own plan is a good one.
"""

from collections.abc import Sequence
from math import inf
from typing import Final

__all__ = ["promise"]

_RECENT: Final = 10
"""Trials whose gain counts."""
_HOPED: Final = 0.01
"""The share of the cycles that as many trials again are hoped to gain: nothing is given up."""


def promise(cycles: Sequence[int | None], asked: int) -> float:
    """The cycles that one more trial of a graph may gain.

    `cycles` are those of the compiler's own plan and of all trials since, in order; None: a plan
    was illegal.  `asked` trials began; without one, nothing is known, and more cannot be promised.
    """
    if not asked:
        return inf
    before = _least(cycles[: max(1, len(cycles) - _RECENT)])
    best = _least(cycles)
    if before is None or best is None:
        return 0.0
    return (before - best) / min(_RECENT, asked) + _HOPED * best / asked


def _least(cycles: Sequence[int | None]) -> int | None:
    """The fewest cycles of a legal plan; None: there is none."""
    return min((each for each in cycles if each is not None), default=None)
