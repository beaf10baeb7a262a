"""Results that are still in the scratchpad when somebody wants to load them."""

from collections.abc import Hashable, Mapping
from itertools import pairwise

from celosia.sw.ir.graph import Tensor, View
from celosia.sw.ir.program import LocalRows, Space
from celosia.sw.scheduling.pieces import Pieces

__all__ = ["Results"]


class Results:
    """The results of transforms in each ring, as far as nobody has taken their rows."""

    def __init__(self, rings: Mapping[str, Pieces], tensors: Mapping[str, Tensor], dim: int):
        self._rings, self._tensors, self._dim = rings, tensors, dim
        self._views: dict[tuple[str, str], list[View]] = {}
        """Views of results, by their ring and tensor."""

    def add(self, view: View, ring: str) -> Hashable:
        """A result is about to take rows of a ring; returns its key there."""
        self._views.setdefault((ring, view.tensor), []).append(view)
        return "result", view

    def find(self, view: View, ring: str) -> LocalRows | None:
        """The rows that hold `view`, if its blocks of columns are there at equal distances.

        Blocks may be of different results: these often follow each other.
        """
        if (ring, view.tensor) not in self._views:
            return None
        size = self._tensors[view.tensor].element_bytes
        starts = range(view.col * size, (view.col + view.cols) * size, self._dim)
        rows = [self._row(view, ring, start, size) for start in starts]
        firsts = [row for row in rows if row is not None]
        steps = {later - first for first, later in pairwise(firsts)} or {view.rows}
        if len(firsts) < len(rows) or len(steps) > 1 or min(steps) < view.rows:
            return None
        return LocalRows(Space.SCRATCHPAD, firsts[0], view.rows, len(firsts), steps.pop())

    def _row(self, view: View, ring: str, start: int, size: int) -> int | None:
        """The first row of the block of `view` that begins with this byte of its tensor's rows."""
        end = min(start + self._dim, (view.col + view.cols) * size)
        for other in self._views[ring, view.tensor]:
            block, within = divmod(start - other.col * size, self._dim)
            down = view.row - other.row
            if (
                within == 0
                and block >= 0
                and end <= (other.col + other.cols) * size
                and 0 <= down <= other.rows - view.rows
                and (first := self._rings[ring].find(("result", other))) is not None
            ):
                return first + block * other.rows + down
        return None
