"""Pieces that take the rows of a ring in turn, and which of them are still there."""

from collections.abc import Hashable

from celosia.sw.ir.program import Space
from celosia.sw.lowering.rings import Ring
from celosia.sw.planning.plan import RingPlan

__all__ = ["Pieces"]


class Pieces:
    """A ring of a plan in use."""

    def __init__(self, plan: RingPlan):
        self.space = Space(plan.space)
        self._ring = Ring(self.space, *plan.spans)
        self._where: dict[Hashable, tuple[int, int]] = {}
        """First row of each piece that is still there, and the row behind its last."""

    def find(self, key: Hashable) -> int | None:
        """The first row of this piece, unless another one has taken any of its rows."""
        return self._where.get(key, (None, 0))[0]

    def take(self, key: Hashable, rows: int) -> int:
        """The first of `rows` rows for a piece."""
        first = self._ring.take(rows)
        end = first + rows
        gone = [other for other, (a, b) in self._where.items() if a < end and first < b]
        for other in gone:
            del self._where[other]
        self._where[key] = first, end
        return first
