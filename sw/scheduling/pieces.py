"""Pieces that take the rows of a ring in turn, and which of them are still there."""

from collections.abc import Hashable

from celosia.sw.ir.program import Space
from celosia.sw.planning.forms.plan import Plan, RingPlan

__all__ = ["Pieces", "Ring", "open_rings"]


class Ring:
    """Rows of a local memory, given out in turn; those given out longest ago are used again first.

    Of several spans, one after the other gives rows: so that a piece can arrive in one bank while
    another one is read in the next.
    """

    def __init__(self, space: Space, *spans: tuple[int, int]):
        self.space = space
        self._spans = spans
        """First row and number of rows of each."""
        self._next = [first for first, _ in spans]
        self._turn = 0

    @property
    def rows(self) -> int:
        """The most that can be taken at once."""
        return min(rows for _, rows in self._spans)

    @property
    def spans(self) -> int:
        """The number of spans."""
        return len(self._spans)

    def take(self, rows: int, turn: int | None = None) -> int:
        """The first of `rows` consecutive rows, of the span of this `turn` or whose turn it is.

        Raises `ValueError` if there are never so many.
        """
        if turn is not None:
            self._turn = turn % len(self._spans)
        first, size = self._spans[self._turn]
        if rows > size:
            raise ValueError(f"{rows} rows do not fit into a span of {size}")
        row = self._next[self._turn]
        if row + rows > first + size:
            row = first
        self._next[self._turn] = row + rows
        self._turn = (self._turn + 1) % len(self._spans)
        return row


class Pieces:
    """A ring of a plan in use."""

    def __init__(self, plan: RingPlan):
        self.plan = plan
        # A ring of statistics gives slots, which nothing but numbers tell apart.
        self._ring = Ring(Space.ACCUMULATOR, *plan.spans)
        self._where: dict[Hashable, tuple[int, int]] = {}
        """First row of each piece that is still there, and the row behind its last."""
        self._meeting: tuple[Pieces, ...] = (self,)
        """All rings that have rows in common with this one."""

    @property
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
        """The first of `rows` rows for a piece, of the span of this `turn` or whose turn it is."""
        first = self._ring.take(self.plan.taken(rows), turn)
        for ring in self._meeting:
            ring._forget(first, first + rows)
        self._where[key] = first, first + rows
        return first

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
