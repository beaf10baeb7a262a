"""Which stores of a program share elements with a view: looked for by bands of rows."""

from collections import defaultdict
from collections.abc import Collection, Iterator
from typing import Final

from celosia.sw.ir.graph import View

__all__ = ["Stored"]

_BAND: Final = 16
"""Rows of a tensor whose stores are looked through together."""


class Stored:
    """Views that were stored, each with a number that is greater than those before it.

    Of the tensors `moving`, a patched program stores other rows: any load may meet them.
    """

    def __init__(self, moving: Collection[str] = ()):
        self._moving = moving
        self._bands: defaultdict[tuple[str, int], list[tuple[View, int]]] = defaultdict(list)

    def add(self, view: View, number: int) -> None:
        """A store of `view`."""
        for band in self._bands_of(view):
            self._bands[view.tensor, band].append((view, number))

    def numbers(self, view: View) -> set[int]:
        """All stores that share an element with `view`."""
        return {n for band in self._bands_of(view) for n in self._meeting(view, band)}

    def latest(self, view: View) -> int:
        """The last store that shares an element with `view`; 0 if there is none."""
        return max(next(self._meeting(view, band), 0) for band in self._bands_of(view))

    def _meeting(self, view: View, band: int) -> Iterator[int]:
        """The stores of one band of rows that share an element with `view`, the last one first."""
        stored = self._bands.get((view.tensor, band), ())
        return (number for other, number in reversed(stored) if self.meet(other, view))

    def meet(self, stored: View, view: View) -> bool:
        """Whether a store shares an element with a view, or may do so."""
        return stored.meets(view) or (stored.tensor == view.tensor and view.tensor in self._moving)

    def _bands_of(self, view: View) -> range:
        """The bands of a view: those that share an element share one of them."""
        if view.tensor in self._moving:
            return range(1)
        return range(view.row // _BAND, (view.row + view.rows - 1) // _BAND + 1)
