"""Branches to one program: what they do next to each other, at paces that end together.

The array's operations keep the order that they are given here; all else is scheduled around them.
A branch goes on when the share of its cycles that is behind it is the smallest: up to its next
product, so that the loads of a product stand right before it.
"""

from collections.abc import Iterator, Sequence

from celosia.sw.ir.program import Op
from celosia.sw.planning.forms.stages import ConcurrentStage
from celosia.sw.scheduling.trickle import array_cycles

__all__ = ["merged"]

Named = tuple[str, Op]
"""An operation, and before it its operator."""


def merged(
    stage: ConcurrentStage, branches: Sequence[Sequence[Iterator[Named]]]
) -> Iterator[Named]:
    """The operations of all `branches`, each of them in order.

    Branches have rings of their own, so that it does not matter which of them takes rows first.
    """
    paces = [
        _Pace([list(each) for each in stages], branch.cycles)
        for stages, branch in zip(branches, stage.branches, strict=True)
    ]
    while left := [pace for pace in paces if not pace.over]:
        yield from min(left, key=lambda pace: pace.share).turn()


class _Pace:
    """The operations of a branch, and how much of its time is over before each."""

    def __init__(self, stages: Sequence[Sequence[Named]], cycles: Sequence[int]):
        self._ops = [named for stage in stages for named in stage]
        self._shares = list(_shares(stages, cycles))
        self._next = 0

    @property
    def over(self) -> bool:
        """Whether nothing is left."""
        return self._next == len(self._ops)

    @property
    def share(self) -> float:
        """The share of the branch's time before its next operation."""
        return self._shares[self._next]

    def turn(self) -> Iterator[Named]:
        """Operations up to a product; what follows the last product all at once."""
        while not self.over:
            named = self._ops[self._next]
            self._next += 1
            yield named
            if array_cycles(named[1]):
                return


def _shares(stages: Sequence[Sequence[Named]], cycles: Sequence[int]) -> Iterator[float]:
    """Each stage takes its cycles; within it, time is that of the array, or goes op by op."""
    total, before = sum(cycles), 0
    for ops, taken in zip(stages, cycles, strict=True):
        weights = [array_cycles(op) for _, op in ops]
        if not any(weights):
            weights = [1] * len(ops)
        done, whole = 0, sum(weights)
        for weight in weights:
            yield (before + taken * done / whole) / total
            done += weight
        before += taken
