"""Local rows that pieces take in turn."""

from typing import Final

from celosia.sw.ir.program import Space

__all__ = ["RING_SHARES", "Ring"]

RING_SHARES: Final = 3
"""Two pieces of up to so large a share of a ring stay in it together, wherever the first stands."""


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

    def take(self, rows: int) -> int:
        """The first of `rows` consecutive rows.  Raises `ValueError` if there are never so many."""
        first, size = self._spans[self._turn]
        if rows > size:
            raise ValueError(f"{rows} rows do not fit into a span of {size}")
        row = self._next[self._turn]
        if row + rows > first + size:
            row = first
        self._next[self._turn] = row + rows
        self._turn = (self._turn + 1) % len(self._spans)
        return row
