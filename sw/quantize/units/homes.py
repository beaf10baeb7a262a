"""Where units write what is appended to caches: there, instead of to a tensor of its own."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from celosia.sw.frontend.nn.operators.operator import expect
from celosia.sw.ir.graph import View
from celosia.sw.quantize.units.units import Append

__all__ = ["Home", "find_homes"]


@dataclass(frozen=True, eq=False)
class Home:
    """Where some columns of a unit's value are written."""

    columns: NDArray[np.intp]
    """The value's columns, in the order in which they stand in `view`."""
    view: View
    copies: tuple[View, ...] = ()
    """A place for each row, where it is written, too."""

    def part(self, view: View) -> View | None:
        """Where a rectangle of the value is; None: it is not here."""
        found = np.flatnonzero(self.columns == view.col)
        wanted = np.arange(view.col, view.col + view.cols)
        if not found.size:
            return None
        start = int(found[0])
        if not np.array_equal(self.columns[start : start + view.cols], wanted):
            return None
        return self.view.part(row=view.row, rows=view.rows, col=start, cols=view.cols)


def find_homes(
    shape: tuple[int, int],
    appends: Sequence[Append],
    cache: Callable[[Append], View],
    own: Callable[[int, int], View],
) -> Iterator[Home]:
    """The homes of a value of so many rows and columns, parts of which are appended to caches.

    `cache` is what a unit appends to, and `own` makes a tensor of the value's rows for so many
    columns, the first of which is this one of the value.  Raises `GraphError` for rows that are
    appended in part, and columns that are appended to two caches.
    """
    rows, cols = shape
    groups: dict[tuple[int, ...], list[Append]] = {}
    for append in appends:
        groups.setdefault(_columns(append), []).append(append)
    left = np.ones(cols, np.bool_)
    for columns, found in groups.items():
        place = np.array(columns, np.intp)
        name = found[0].cache
        expect(bool(left[place].all()), f"{name}: what is appended is in another cache, too")
        left[place] = False
        targets = [cache(each).part(row=each.first, rows=_rows(each)) for each in found]
        covered = chain.from_iterable(_span(each) for each in found)
        expect(sorted(covered) == [*range(rows)], f"{name}: rows are appended in part")
        if len(found) == 1:
            yield Home(place, targets[0])
            continue
        order = sorted(range(len(found)), key=lambda each: found[each].parts[0].row)
        copies = (
            targets[at].part(row=row, rows=1) for at in order for row in range(targets[at].rows)
        )
        yield Home(place, own(len(columns), int(place[0])), tuple(copies))
    if left.any():
        place = np.flatnonzero(left)
        yield Home(place, own(len(place), int(place[0])))


def _columns(append: Append) -> tuple[int, ...]:
    return tuple(col for part in append.parts for col in range(part.col, part.col + part.cols))


def _rows(append: Append) -> int:
    return append.parts[0].rows


def _span(append: Append) -> range:
    return range(append.parts[0].row, append.parts[0].row + _rows(append))
