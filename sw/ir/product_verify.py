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


def _meet(here: _Corner | None, wanted: _Corner | None) -> bool:
    """Whether a tile is the one that is wanted, as far as both are known."""
    return here is None or wanted is None or here == wanted


@dataclass(slots=True)
class _Sums:
    """What products have left in rows of the accumulator, and with which tiles they go on."""

    number: int
    rows: int
    cols: int
    a: _Corner | None
    """None: A was made by a transform."""
    w: _Corner | None
    """None: W was made by a transform."""

    def meets(
        self, number: int, shape: tuple[int, int], a: _Corner | None, w: tuple[str, int, int]
    ) -> bool:
        """Whether a product of these tiles goes on with the sums of `number`."""
        same = self.number == number and (self.rows, self.cols) == shape
        return same and w == self.w and _meet(a, self.a)


@dataclass(slots=True)
class _Tiles:
    """The first tiles of a nest, and those that would be behind its last along K."""

    a: _Corner | None
    w: _Corner
    next_a: _Corner | None
    next_w: _Corner


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
            for each in op.each(self.dim):
                self._multiply(each)

    # A product.

    def _multiply(self, op: Multiply) -> None:
        scratchpad = self.scratchpad
        a = scratchpad.ops[scratchpad.read(op.a, op.a + op.rows)]
        w_rows = op.cols if op.w_transposed else op.depth
        w = scratchpad.ops[scratchpad.read(op.w, op.w + w_rows)]
        here_a = self._a_corner(a, op.a)
        here_w = self._w_corner(w, op.w, op.w_transposed) if isinstance(w, Load) else None
        if op.accumulate:
            number = self._go_on(op, here_a, here_w)
        else:
            number = self.sums.write(op, (op.c, op.c + op.rows))
        next_a = here_a and here_a.moved(op.depth)
        next_w = here_w and here_w.moved(op.depth)
        self._keep(op.c, _Sums(number, op.rows, op.cols, next_a, next_w))

    def _keep(self, row: int, sums: _Sums) -> None:
        self._sums[row] = sums
        self._last_of[sums.number] = row

    def _split(self, row: int, rows: int, number: int) -> None:
        """Products go on with the last rows of sums alone: then these are sums of their own."""
        first = self._last_of.get(number, row)
        sums = self._sums.get(first)
        if sums is None or sums.number != number or not first < row == first + sums.rows - rows:
            return
        a = sums.a and _Corner(sums.a.tensor, sums.a.depth, sums.a.across + row - first)
        self._keep(row, replace(sums, rows=rows, a=a))
        self._sums[first] = replace(sums, rows=row - first)

    def _go_on(self, op: Multiply, a: _Corner | None, w: _Corner | None) -> int:
        """The number of the sums that `op` goes on with."""
        number = self.sums.read(op.c, op.c + op.rows)
        self._split(op.c, op.rows, number)
        before, last = self.sums.ops[number], self._sums.get(op.c)
        if isinstance(before, Load):
            return self.sums.write(op, (op.c, op.c + op.rows))
        if not isinstance(before, Multiply | Products):
            raise ValueError(f"does not go on with a product: {before}")
        if last is None or (last.number, last.rows, last.cols) != (number, op.rows, op.cols):
            raise ValueError(f"does not go on with the sums in its rows: {before}")
        for here, wanted in ((a, last.a), (w, last.w)):
            if not _meet(here, wanted):
                raise ValueError(f"goes on with {here}, not with {wanted} behind {before}")
        self.sums.go_on(op, number)
        return number

    # A nest of products.

    def _tiles(self, op: Products) -> _Tiles | None:
        """The tiles of a nest whose pieces stand each in one load; None: look at each product."""
        first = last = None
        for piece in range(op.pieces):
            here = self._piece(op, piece)
            if here is None:
                return None
            if last is not None and not (here.w == last.next_w and _meet(here.a, last.next_a)):
                return None
            last, first = here, first or here
        if first is None or last is None:
            return None
        return _Tiles(first.a, first.w, last.next_a, last.next_w)

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
        return _Tiles(a_corner, w_corner, a_corner and a_corner.moved(by), w_corner.moved(by))

    def _take_nest(self, op: Products, tiles: _Tiles) -> bool:
        """Write the sums of a nest of these tiles; False: look at each product."""
        dim, sums = self.dim, self.sums
        numbers = []
        last_column = op.columns - 1
        columns = [
            (op.c + n * op.c_column, op.last_cols if n == last_column else dim, n * dim)
            for n in range(op.columns)
        ]
        if op.accumulate:
            tensor, depth, first = tiles.w
            for c, cols, across in columns:
                number = sums.one_maker(c, c + op.rows)
                self._split(c, op.rows, number)
                last = self._sums.get(c)
                w = (tensor, depth, first + across)
                if not last or not last.meets(number, (op.rows, cols), tiles.a, w):
                    return False
                numbers.append(number)
            for number in numbers:
                sums.go_on(op, number)
        else:
            numbers = [sums.write(op, (c, c + op.rows)) for c, *_ in columns]
        tensor, depth, first = tiles.next_w
        for number, (c, cols, across) in zip(numbers, columns, strict=True):
            w = _Corner(tensor, depth, first + across)
            self._keep(c, _Sums(number, op.rows, cols, tiles.next_a, w))
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
