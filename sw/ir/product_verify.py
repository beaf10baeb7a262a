"""What makes products well formed: their operands are loaded, and they go on along K without a gap.

The first may go on with sums that were loaded.

A nest whose operands stand in memory as it takes them is looked at as a whole, because a program
has tens of thousands of products; of any other nest, each product is.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

from celosia.sw.ir.program import Load, Multiply, Op, Products, Transform
from celosia.sw.ir.program_rows import MadeRows

__all__ = ["ProductChecker"]


class _Corner(NamedTuple):
    """The first element of a tile of A or W in memory: where it is along K, and across."""

    tensor: str
    depth: int
    across: int

    def moved(self, depth: int) -> "_Corner":
        """The tile that is so much further along K."""
        return _Corner(self.tensor, self.depth + depth, self.across)


class _Reach(NamedTuple):
    """What products take of A or W along K: from one tile on, to the one behind the last."""

    first: _Corner
    behind: _Corner

    def moved(self, across: int) -> "_Reach":
        """The same of what is so much further across."""
        first, behind = (each._replace(across=each.across + across) for each in self)
        return _Reach(first, behind)


def _longer(reach: _Reach | None, more: _Reach | None, *, before: bool) -> bool:
    """Whether `more` is just behind or `before` a reach, as far as both are known."""
    if reach is None or more is None:
        return True
    return more.behind == reach.first if before else more.first == reach.behind


def _joined(reach: _Reach | None, more: _Reach | None, *, before: bool) -> _Reach | None:
    """A reach with `more` just behind or `before` it."""
    if reach is None or more is None:
        return more
    return _Reach(more.first, reach.behind) if before else _Reach(reach.first, more.behind)


@dataclass(frozen=True, slots=True)
class _Tiles:
    """The tiles of a product or a nest, or of all that sums are made of."""

    a: _Reach | None
    """None: A was made by a transform."""
    w: _Reach | None
    """None: W was made by a transform."""

    def with_more(self, more: "_Tiles") -> "_Tiles | None":
        """These and `more`, which go on along K at either end; None: they do not."""
        for before in (False, True):
            if _longer(self.a, more.a, before=before) and _longer(self.w, more.w, before=before):
                a = _joined(self.a, more.a, before=before)
                return _Tiles(a, _joined(self.w, more.w, before=before))
        return None

    def moved(self, a: int = 0, w: int = 0) -> "_Tiles":
        """These tiles, so much further across."""
        return _Tiles(self.a and self.a.moved(a), self.w and self.w.moved(w))


@dataclass(slots=True)
class _Sums:
    """What products have left in rows of the accumulator."""

    number: int
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

    def take(self, op: Multiply | Products) -> None:
        """Check the products of `op`.  Raises `ValueError` if they are not well formed."""
        if isinstance(op, Multiply):
            self._multiply(op)
            return
        tiles = self._tiles(op)
        if tiles is None or not self._take_nest(op, tiles):
            products = list(op.each(self.dim))
            if op.accumulate and self._comes_before(products[0]):
                products.reverse()
            for each in products:
                self._multiply(each)

    # A product.

    def _multiply(self, op: Multiply) -> None:
        tiles = self._tiles_of(op)
        if op.accumulate:
            number, tiles = self._go_on(op, tiles)
        else:
            number = self.sums.write(op, (op.c, op.c + op.rows))
        self._keep(op.c, _Sums(number, op.rows, op.cols, tiles))

    def _tiles_of(self, op: Multiply) -> _Tiles:
        scratchpad = self.scratchpad
        a = scratchpad.ops[scratchpad.read(op.a, op.a + op.rows)]
        w_rows = op.cols if op.w_transposed else op.depth
        w = scratchpad.ops[scratchpad.read(op.w, op.w + w_rows)]
        here_a = self._a_corner(a, op.a)
        here_w = self._w_corner(w, op.w, op.w_transposed) if isinstance(w, Load) else None
        return _Tiles(_reach(here_a, op.depth), _reach(here_w, op.depth))

    def _comes_before(self, op: Multiply) -> bool:
        """Whether a product takes tiles that are ahead of those of the sums in its rows."""
        sums, w = self._sums.get(op.c), self._tiles_of(op).w
        if sums is None or sums.number != self.sums.one_maker(op.c, op.c + op.rows):
            return False
        return bool(sums.tiles.w and w and w.first.depth < sums.tiles.w.first.depth)

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

    def _go_on(self, op: Multiply, tiles: _Tiles) -> tuple[int, _Tiles]:
        """The number of the sums that `op` goes on with, and all tiles that they are made of."""
        number = self.sums.read(op.c, op.c + op.rows)
        self._split(op.c, op.rows, number)
        before, last = self.sums.ops[number], self._sums.get(op.c)
        if isinstance(before, Load):
            return self.sums.write(op, (op.c, op.c + op.rows)), tiles
        if not isinstance(before, Multiply | Products):
            raise ValueError(f"does not go on with a product: {before}")
        if last is None or (last.number, last.rows, last.cols) != (number, op.rows, op.cols):
            raise ValueError(f"does not go on with the sums in its rows: {before}")
        joined = last.tiles.with_more(tiles)
        if joined is None:
            raise ValueError(
                f"goes on with {tiles}, not with what is beside {last.tiles}: {before}"
            )
        self.sums.go_on(op, number)
        return number, joined

    # A nest of products.

    def _tiles(self, op: Products) -> _Tiles | None:
        """The tiles of a nest whose pieces stand each in one load; None: look at each product."""
        found: _Tiles | None = None
        for piece in range(op.pieces):
            here = self._piece(op, piece)
            found = here if found is None or here is None else found.with_more(here)
            if found is None:
                return None
        return found

    def _piece(self, op: Products, piece: int) -> _Tiles | None:
        dim, scratchpad = self.dim, self.scratchpad
        depth = op.last_depth if piece == op.pieces - 1 else dim
        a, w = op.a + piece * op.a_piece, op.w + piece * op.w_piece
        k_rows, column_rows = (op.k - 1) * op.w_k, (op.columns - 1) * op.w_column
        w_rows = k_rows + column_rows + (op.last_cols if op.w_transposed else depth)
        a_maker = scratchpad.one_maker(a, a + (op.k - 1) * op.a_k + op.rows)
        w_maker = scratchpad.one_maker(w, w + w_rows)
        if not a_maker or not w_maker:
            return None
        a_op, w_op = scratchpad.ops[a_maker], scratchpad.ops[w_maker]
        if not isinstance(w_op, Load):
            return None
        # One axis of W goes from block to block, the other one from row to row.
        by_block, by_row, rows = (
            ((op.k, op.w_k), (op.columns, op.w_column), column_rows)
            if op.w_transposed
            else ((op.columns, op.w_column), (op.k, op.w_k), k_rows)
        )
        pitch = w_op.to.pitch
        usual = (
            (by_block[0] == 1 or by_block[1] == pitch)
            and (by_row[0] == 1 or by_row[1] == dim)
            and (w - w_op.to.row) % pitch + rows < pitch
            and (op.k == 1 or not isinstance(a_op, Load) or op.a_k == a_op.to.pitch)
        )
        if not usual:
            return None
        scratchpad.unused.difference_update((a_maker, w_maker))
        a_corner, w_corner = self._a_corner(a_op, a), self._w_corner(w_op, w, op.w_transposed)
        by = (op.k - 1) * dim + depth
        return _Tiles(_reach(a_corner, by), _reach(w_corner, by))

    def _take_nest(self, op: Products, tiles: _Tiles) -> bool:
        """Write the sums of a nest of these tiles; False: look at each product."""
        dim, sums = self.dim, self.sums
        numbers = []
        last_column = op.columns - 1
        columns = [
            (op.c + n * op.c_column, op.last_cols if n == last_column else dim, n * dim)
            for n in range(op.columns)
        ]
        found = [tiles.moved(w=across) for *_, across in columns]
        if op.accumulate:
            for index, (c, cols, _) in enumerate(columns):
                number = sums.one_maker(c, c + op.rows)
                self._split(c, op.rows, number)
                last = self._sums.get(c)
                if not last or (last.number, last.rows, last.cols) != (number, op.rows, cols):
                    return False
                joined = last.tiles.with_more(found[index])
                if joined is None:
                    return False
                found[index] = joined
                numbers.append(number)
            for number in numbers:
                sums.go_on(op, number)
        else:
            numbers = [sums.write(op, (c, c + op.rows)) for c, *_ in columns]
        for number, (c, cols, _), each in zip(numbers, columns, found, strict=True):
            self._keep(c, _Sums(number, op.rows, cols, each))
        return True

    # Tiles in memory.

    def _a_corner(self, made: Op, row: int) -> _Corner | None:
        if isinstance(made, Transform):
            return None
        if not isinstance(made, Load):
            raise ValueError(f"{made}: is no operand of a product")
        block, row = divmod(row - made.to.row, made.to.pitch)
        return _Corner(made.view.tensor, made.view.col + block * self.dim, made.view.row + row)

    def _w_corner(self, made: Load, row: int, transposed: bool) -> _Corner:
        block, row = divmod(row - made.to.row, made.to.pitch)
        row, col = made.view.row + row, made.view.col + block * self.dim
        depth, across = (col, row) if transposed else (row, col)
        return _Corner(made.view.tensor, depth, across)


def _reach(corner: _Corner | None, depth: int) -> _Reach | None:
    """What is so long along K from a tile on."""
    return corner and _Reach(corner, corner.moved(depth))
