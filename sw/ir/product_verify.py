"""What makes products well formed: their operands are loaded, and they go on along K without a gap.

The first may go on with sums that were loaded.

A nest whose operands stand in memory as it takes them is looked at as a whole, because a program
has tens of thousands of products; of any other nest, each product is.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from typing import Final, NamedTuple

from celosia.sw.ir.program import Load, Op, Products, Transform
from celosia.sw.ir.program_rows import MadeRows

__all__ = ["ProductChecker"]


class _Corner(NamedTuple):
    """The first element of a tile of A or W in memory: where it is along K, and across."""

    tensor: str
    depth: int
    across: int

    def moved(self, depth: int, across: int) -> "_Corner":
        """The one of a tile so much further on."""
        return _Corner(self.tensor, self.depth + depth, self.across + across)


class _Reach(NamedTuple):
    """What products take of A or W along K: from one tile on, to the one behind the last.

    At each end it is known by itself: one end may have been loaded, and a transform may have made
    the other.
    """

    first: _Corner | None
    """None: a transform has made this end."""
    behind: _Corner | None

    def goes_on(self, more: "_Reach") -> bool:
        """Whether `more` begins just behind this, as far as that is known."""
        return None in (self.behind, more.first) or self.behind == more.first

    def with_more(self, more: "_Reach") -> "_Reach":
        """One reach, with `more` behind."""
        return _Reach(self.first, more.behind)

    def moved(self, across: int) -> "_Reach":
        """The same of what is so much further across."""
        return _Reach(*(each and each.moved(0, across) for each in self)) if across else self


_MADE: Final = _Reach(None, None)
"""What transforms have made, as far as anybody knows."""


@dataclass(frozen=True, slots=True)
class _Tiles:
    """The tiles of a product or a nest, or of all that sums are made of."""

    a: _Reach
    w: _Reach

    def with_more(self, more: "_Tiles") -> "_Tiles":
        """These and `more`.  Raises `ValueError` if they do not go on along K at either end."""
        fits = [
            _Tiles(one.a.with_more(other.a), one.w.with_more(other.w))
            for one, other in ((self, more), (more, self))
            if one.a.goes_on(other.a) and one.w.goes_on(other.w)
        ]
        if not fits:
            raise ValueError(f"goes on with {more}, not with what is beside {self}")
        # What fits at both ends is at one of them, and nobody knows at which.
        return fits[0] if len(fits) == 1 else _Tiles(_MADE, _MADE)

    def moved(self, a: int = 0, w: int = 0) -> "_Tiles":
        """These tiles, so much further across."""
        return _Tiles(self.a.moved(a), self.w.moved(w))


@dataclass(slots=True)
class _Sums:
    """What products have left in rows of the accumulator."""

    number: int
    """The number of the products that made them last; 0: they are not there yet."""
    rows: int
    cols: int
    tiles: _Tiles


class ProductChecker:
    """Products between a scratchpad and an accumulator, of arrays that are `dim` wide."""

    def __init__(self, dim: int, scratchpad: MadeRows, sums: MadeRows):
        self.dim = dim
        self.scratchpad, self.sums = scratchpad, sums
        self._sums: dict[int, _Sums] = {}
        """Sums in the accumulator, by their first row."""
        self._last_of: dict[int, int] = {}
        """The first row of the last sums of each number: all rows of it, or the last of them."""

    def take(self, op: Products) -> None:
        """Check the products of `op`.  Raises `ValueError` if they are not well formed."""
        try:
            found = list(self._summed(op))
        except ValueError:
            if op.count == 1:
                raise
            for each in self._in_order([*op.each(self.dim)]):
                self.take(each)
            return
        for row, sums in found:
            if sums.number:
                self.sums.go_on(op, sums.number)
            else:
                sums.number = self.sums.write(op, (row, row + op.rows))
            self._keep(row, sums)

    def _in_order(self, products: list[Products]) -> list[Products]:
        """The products of a nest, the last one first if it is next to the sums in its rows."""
        op = products[0]
        sums, w = self._sums.get(op.c), self._tiles(op).w.first
        if not op.accumulate or sums is None:
            return products
        goes_on = self.sums.are_of(sums.number, op.c, op.c + op.rows)
        begin = sums.tiles.w.first
        before = w is not None and begin is not None and w.depth < begin.depth
        return products[::-1] if goes_on and before else products

    def _summed(self, op: Products) -> Iterator[tuple[int, _Sums]]:
        """The first row and the sums of each tile of columns; those that are new have no number."""
        tiles = self._tiles(op)
        for column in range(op.columns):
            row, cols = op.c + column * op.c_column, self.dim
            if column == op.columns - 1:
                cols = op.last_cols
            sums = _Sums(0, op.rows, cols, tiles.moved(w=column * self.dim))
            yield row, self._gone_on(row, sums) if op.accumulate else sums

    def _gone_on(self, row: int, more: _Sums) -> _Sums:
        """The sums that products go on with, and all tiles that they are made of."""
        number = self.sums.read(row, row + more.rows)
        self._split(row, more.rows, number)
        before, last = self.sums.ops[number], self._sums.get(row)
        if isinstance(before, Load):
            return more
        if not isinstance(before, Products):
            raise ValueError(f"does not go on with a product: {before}")
        if last is None or (last.number, last.rows, last.cols) != (number, more.rows, more.cols):
            raise ValueError(f"does not go on with the sums in its rows: {before}")
        return replace(more, number=number, tiles=last.tiles.with_more(more.tiles))

    def _keep(self, row: int, sums: _Sums) -> None:
        self._sums[row] = sums
        self._last_of[sums.number] = row

    def _split(self, row: int, rows: int, number: int) -> None:
        """Products go on with the last rows of sums alone: then these are sums of their own."""
        first = self._last_of.get(number, row)
        sums = self._sums.get(first)
        if sums is None or sums.number != number or not first < row == first + sums.rows - rows:
            return
        self._keep(row, replace(sums, rows=rows, tiles=sums.tiles.moved(a=row - first)))
        self._sums[first] = replace(sums, rows=row - first)

    def _tiles(self, op: Products) -> _Tiles:
        """The tiles of a nest.  Raises `ValueError` if a piece does not stand in one load."""
        pieces = (self._piece(op, piece) for piece in range(op.pieces))
        return reduce(_Tiles.with_more, pieces)

    def _piece(self, op: Products, piece: int) -> _Tiles:
        dim, scratchpad = self.dim, self.scratchpad
        depth = op.last_depth if piece == op.pieces - 1 else dim
        a, w = op.a + piece * op.a_piece, op.w + piece * op.w_piece
        k_rows, column_rows = (op.k - 1) * op.w_k, (op.columns - 1) * op.w_column
        w_rows = k_rows + column_rows + op.w_rows(depth, op.last_cols, dim)
        a_op = scratchpad.ops[scratchpad.read(a, a + (op.k - 1) * op.a_k + op.rows)]
        w_op = scratchpad.ops[scratchpad.read(w, w + w_rows)]
        if isinstance(a_op, Load) and op.k > 1 and op.a_k != a_op.to.pitch:
            raise ValueError(f"tiles of A do not stand side by side: {a_op}")
        by = (op.k - 1) * dim + depth
        a_reach = _reach(self._a_corner(a_op, a), by)
        if not isinstance(w_op, Load):
            return _Tiles(a_reach, _MADE)
        # One axis of W goes from block to block, the other one from row to row.
        by_block, by_row, rows = (
            ((op.k, op.w_k), (op.columns, op.w_column), column_rows)
            if op.w_transposed
            else ((op.columns, op.w_column), (op.k, op.w_k), k_rows)
        )
        pitch = w_op.to.pitch
        usual = (
            (by_block[0] == 1 or by_block[1] == pitch)
            and (by_row[0] == 1 or by_row[1] == op.w_type.tile_rows(dim))
            and (w - w_op.to.row) % pitch + rows < pitch
        )
        if not usual:
            raise ValueError(f"tiles of W do not stand side by side: {w_op}")
        return _Tiles(a_reach, _reach(self._w_corner(w_op, w, op), by))

    # Tiles in memory.

    def _a_corner(self, made: Op, row: int) -> _Corner | None:
        if isinstance(made, Transform):
            return None
        if not isinstance(made, Load):
            raise ValueError(f"{made}: is no operand of a product")
        block, row = divmod(row - made.to.row, made.to.pitch)
        return _Corner(made.view.tensor, made.view.col + block * self.dim, made.view.row + row)

    def _w_corner(self, made: Load, row: int, op: Products) -> _Corner:
        block, row = divmod(row - made.to.row, made.to.pitch)
        row *= op.w_type.per_byte
        row, col = made.view.row + row, made.view.col + block * self.dim
        depth, across = (col, row) if op.w_transposed else (row, col)
        return _Corner(made.view.tensor, depth, across)


def _reach(corner: _Corner | None, depth: int) -> _Reach:
    """What is so long along K from a tile on; None: a transform has made it."""
    return _Reach(corner, corner and corner.moved(depth, 0))
