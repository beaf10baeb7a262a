"""Pieces that take the rows of a ring in turn, and which of them are still there."""

from collections.abc import Hashable
from functools import cached_property

from celosia.sw.ir.program import Space
from celosia.sw.planning.forms.plan import Plan, RingPlan

__all__ = ["Pieces", "open_rings"]


class Pieces:
    """A ring of a plan in use: rows that were given out longest ago are used again first.

    Of several spans, one after the other gives rows: so that a piece can arrive in one bank while
    another one is read in the next.
    """

    def __init__(self, plan: RingPlan):
        self.plan = plan
        self._next = [first for first, _ in plan.spans]
        self._turn = 0
        self._where: dict[Hashable, tuple[int, int]] = {}
        """First row of each piece that is still there, and the row behind its last."""
        self._meeting: tuple[Pieces, ...] = (self,)
        """All rings that have rows in common with this one."""

    @cached_property
    def space(self) -> Space:
        """The memory that the ring is in."""
        return Space(self.plan.space)

    def share_with(self, others: tuple["Pieces", ...]) -> None:
        """Let pieces of this ring overwrite those of all `others` that it has rows in common with.

        `others` may name the ring itself.
        """
        meeting = (other for other in others if self.plan.meets(other.plan))
        self._meeting = tuple(meeting)

    def find(self, key: Hashable) -> int | None:
        """The first row of this piece, unless another one has taken any of its rows."""
        return self._where.get(key, (None, 0))[0]

    def take(self, key: Hashable, rows: int, turn: int | None = None) -> int:
        """The first of `rows` rows for a piece, of the span of this `turn` or whose turn it is.

        Raises `ValueError` if there are never so many.
        """
        spans, taken = self.plan.spans, self.plan.taken(rows)
        number = (self._turn if turn is None else turn) % len(spans)
        first, size = spans[number]
        if taken > size:
            raise ValueError(f"{taken} rows do not fit into a span of {size}")
        row = self._next[number]
        if row + taken > first + size:
            row = first
        self._next[number], self._turn = row + taken, number + 1
        for ring in self._meeting:
            ring._forget(row, row + rows)
        self._where[key] = row, row + rows
        return row

    def _forget(self, first: int, end: int) -> None:
        """Forget pieces in any of these rows."""
        gone = [other for other, (a, b) in self._where.items() if a < end and first < b]
        for other in gone:
            del self._where[other]


def open_rings(plan: Plan) -> dict[str, Pieces]:
    """The rings of a plan, all empty."""
    rings = {name: Pieces(ring) for name, ring in plan.rings.items()}
    for ring in rings.values():
        ring.share_with(tuple(rings.values()))
    return rings
