"""Places for lives in as few bytes as best fit finds: large ones first, or long ones, or in order.

Whether lives fit into given bytes is NP-complete (Garey and Johnson, SR2).  Best fit by size is
what TensorFlow Lite's planner does; on graphs of transformers, it needs no more than the largest
sum of lives, which no other way can beat.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from celosia.sw.scheduling.memory.lives import Life

__all__ = ["fit"]

_ORDERS: Final[tuple[Callable[[Life], Any], ...]] = (
    lambda life: (-life.size, life.begin),
    lambda life: (life.begin, -life.size),
    lambda life: (-(life.end - life.begin), -life.size),
    lambda life: -(life.end - life.begin) * life.size,
)
"""The orders in which lives are placed; the first one that needs the fewest bytes counts."""


def fit(lives: Sequence[Life]) -> tuple[Mapping[str, int], int]:
    """An offset for each life by its name, and the bytes that all of them take.

    Lives that meet have no byte in common.
    """
    return min((_placed(sorted(lives, key=order)) for order in _ORDERS), key=lambda found: found[1])


def _placed(lives: Iterable[Life]) -> tuple[Mapping[str, int], int]:
    """Each life in the smallest gap between those that it meets, else behind them."""
    placed: list[tuple[int, Life]] = []
    for life in lives:
        taken = sorted((start, start + each.size) for start, each in placed if each.meets(life))
        placed.append((_best_gap(taken, life.size), life))
    end = max((start + life.size for start, life in placed), default=0)
    return {life.name: start for start, life in placed}, end


def _best_gap(taken: Sequence[tuple[int, int]], size: int) -> int:
    """Where so many bytes leave the fewest unused; `taken` are sorted."""
    best, least, free = None, 0, 0
    for start, end in taken:
        gap = start - free
        if gap >= size and (best is None or gap < least):
            best, least = free, gap
        free = max(free, end)
    return free if best is None else best
