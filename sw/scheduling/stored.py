"""Which stores of a program share elements with a view: looked for by bands of rows."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from celosia.sw.ir.graph import View

__all__ = ["Stored"]

_BAND: Final = 16
"""Rows of a tensor whose stores are looked through together."""


class Stored:
    """Views that were stored, each with a number that is greater than those before it."""

    def __init__(self):
        self._bands: defaultdict[tuple[str, int], list[tuple[View, int]]] = defaultdict(list)

    def add(self, view: View, number: int) -> None:
        """A store of `view`."""
        for band in _bands(view):
            self._bands[view.tensor, band].append((view, number))

    def numbers(self, view: View) -> set[int]:
        """All stores that share an element with `view`."""
        return {n for band in _bands(view) for n in self._meeting(view, band)}

    def latest(self, view: View) -> int:
        """The last store that shares an element with `view`; 0 if there is none."""
        return max(next(self._meeting(view, band), 0) for band in _bands(view))

    def _meeting(self, view: View, band: int) -> Iterator[int]:
        """The stores of one band of rows that share an element with `view`, the last one first."""
        stored = self._bands.get((view.tensor, band), ())
        return (number for other, number in reversed(stored) if other.meets(view))


def _bands(view: View) -> range:
    """The bands of a view: those that share an element share one of them."""
    return range(view.row // _BAND, (view.row + view.rows - 1) // _BAND + 1)
