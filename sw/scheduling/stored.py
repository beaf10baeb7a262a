"""Which stores (or loads) of a program share elements with a view: looked for by bands."""

from collections import defaultdict
from collections.abc import Collection, Iterator
from typing import Final

from celosia.sw.ir.graph import View

__all__ = ["Stored"]

_BAND: Final = 16, 256
"""Rows and columns of a tensor whose stores are looked through together."""

_Band = tuple[str, int, int]


class Stored:
    """Views that were stored, each with a number that is greater than those before it.

    Of the tensors `moving`, a patched program stores other rows: any load may meet them.
    """

    def __init__(self, moving: Collection[str] = ()):
        self._moving = moving
        self._bands: defaultdict[_Band, dict[View, int]] = defaultdict(dict)
        self.tensors: set[str] = set()
        """The tensors of all views."""

    def add(self, view: View, number: int) -> None:
        """A store of `view`; an earlier one of the very same view counts no more."""
        self.tensors.add(view.tensor)
        for band in self._bands_of(view):
            numbers = self._bands[band]
            numbers.pop(view, None)  # So the last one stays behind all others.
            numbers[view] = number

    def numbers(self, view: View) -> set[int]:
        """All stores that share an element with `view`."""
        return {n for band in self._bands_of(view) for n in self._meeting(view, band)}

    def latest(self, view: View) -> int:
        """The last store that shares an element with `view`; 0 if there is none."""
        if view.tensor not in self.tensors:
            return 0
        return max(next(self._meeting(view, band), 0) for band in self._bands_of(view))

    def _meeting(self, view: View, band: _Band) -> Iterator[int]:
        """The stores of one band that share an element with `view`, the last one first."""
        stored = self._bands.get(band, {})
        return (number for other, number in reversed(stored.items()) if self.meet(other, view))

    def meet(self, stored: View, view: View) -> bool:
        """Whether a store shares an element with a view, or may do so."""
        return stored.meets(view) or (stored.tensor == view.tensor and view.tensor in self._moving)

    def _bands_of(self, view: View) -> Iterator[_Band]:
        """The bands of a view: those that share an element share one of them."""
        if view.tensor in self._moving:
            yield view.tensor, 0, 0
            return
        rows, cols = _BAND
        for row in range(view.row // rows, (view.row + view.rows - 1) // rows + 1):
            for col in range(view.col // cols, (view.col + view.cols - 1) // cols + 1):
                yield view.tensor, row, col
