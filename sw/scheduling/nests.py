"""Products of a block: rows of A stream through the tiles of W, nest by nest."""

from collections.abc import Generator, Iterator
from dataclasses import dataclass

from celosia.sw.ir.graph import View
from celosia.sw.ir.program import LocalRows, Op, Products
from celosia.sw.planning.extents import even_cuts, tiles
from celosia.sw.planning.forms.stages import PiecesOfW
from celosia.sw.scheduling.moves import Loading, Moves

__all__ = ["ProductBlock", "RowsInMemory", "products"]

Cut = tuple[int, int]
"""Start and length, in tiles."""


@dataclass(frozen=True, kw_only=True)
class RowsInMemory:
    """Rows of A that are loaded, piece by piece, unless pieces of a larger block hold them."""

    view: View
    ring: str
    block: View
    """All rows that have been loaded together."""

    def load(self, moves: Moves, col: int, cols: int) -> Loading:
        """A piece of these columns."""
        whole = moves.found(self.block.part(col=col, cols=cols), self.ring)
        if whole is None:
            return (yield from moves.load(self.view.part(col=col, cols=cols), self.ring))
        first = whole.row + self.view.row - self.block.row
        return LocalRows(whole.space, first, self.view.rows, whole.blocks, whole.pitch)


@dataclass(frozen=True, kw_only=True)
class ProductBlock:
    """``C = A @ W`` for some rows, and for the columns of some tiles of W."""

    a: RowsInMemory | LocalRows
    a_unsigned: bool
    w: View
    """The weights as they stand in memory: all of K, and the columns of this block."""
    w_transposed: bool
    pieces: PiecesOfW
    c: LocalRows
    """The rows of C in the accumulator, a block of them for each tile of columns."""
    accumulate: bool = False
    """Add to what is in C."""

    @property
    def depth(self) -> int:
        """The number of columns of A."""
        return self.w.cols if self.w_transposed else self.w.rows

    @property
    def cols(self) -> int:
        """The number of columns of C."""
        return self.w.rows if self.w_transposed else self.w.cols


@dataclass(frozen=True)
class _Pair:
    """A piece of A and the piece of W that it meets, from tile `k` along K on."""

    k: int
    a: LocalRows
    w: LocalRows


def products(moves: Moves, block: ProductBlock) -> Iterator[Op]:
    """The loads and products of `block`, each load before its first product."""
    pieces, dim = block.pieces, moves.dim
    for k in _cuts(tiles(block.depth, dim), pieces.pieces * pieces.k_tiles):
        for columns in _cuts(tiles(block.cols, dim), pieces.columns):
            pairs = yield from _load(moves, block, k, columns)
            yield from _nests(block, pairs, columns, dim)


def _cuts(count: int, most: int) -> Iterator[Cut]:
    """Parts of `count` tiles, all but the last one of `most`."""
    for start in range(0, count, most):
        yield start, min(most, count - start)


def _load(
    moves: Moves, block: ProductBlock, along: Cut, across: Cut
) -> Generator[Op, None, list[_Pair]]:
    """The pieces of these tiles along K and of columns.

    One that was there already may be what another one overwrites: then it is loaded again.
    """
    k, count = along
    parts = [(k + first, n) for first, n in even_cuts(count, tiles(count, block.pieces.pieces))]
    pairs: list[_Pair] = []
    while True:
        before, pairs = pairs, []
        for part in parts:
            pairs.append((yield from _load_pair(moves, block, part, across)))
        if pairs == before:
            return pairs


def _load_pair(
    moves: Moves, block: ProductBlock, along: Cut, across: Cut
) -> Generator[Op, None, _Pair]:
    dim, (k, k_tiles), (j, columns) = moves.dim, along, across
    row, rows = k * dim, min(k_tiles * dim, block.depth - k * dim)
    col, cols = j * dim, min(columns * dim, block.cols - j * dim)
    a = block.a.block(k, k_tiles) if isinstance(block.a, LocalRows) else None
    if isinstance(block.a, RowsInMemory):
        a = yield from block.a.load(moves, row, rows)
    if block.w_transposed:
        view = block.w.part(row=col, rows=cols, col=row, cols=rows)
    else:
        view = block.w.part(row=row, rows=rows, col=col, cols=cols)
    w = yield from moves.load(view, block.pieces.ring)
    assert a is not None
    return _Pair(k, a, w)


def _nests(block: ProductBlock, pairs: list[_Pair], across: Cut, dim: int) -> Iterator[Products]:
    """The products of pieces for some tiles of columns: one nest, if the pieces are alike."""
    if len({(pair.a.blocks, pair.a.pitch, pair.w.pitch) for pair in pairs}) == 1:
        yield _nest(block, pairs, across, dim)
        return
    first, count = across
    for tile in range(count):
        for pair in pairs:
            yield _nest(block, [pair], (first, 1), dim, tile)


def _nest(
    block: ProductBlock, pairs: list[_Pair], across: Cut, dim: int, tile: int = 0
) -> Products:
    """The products of pieces that are alike, for tiles of columns from `tile` on."""
    (first, columns), head, last = across, pairs[0], pairs[-1]
    w_k, w_column = head.w.pitch, dim
    if not block.w_transposed:
        w_k, w_column = w_column, w_k
    return Products(
        a=head.a.row,
        w=head.w.row + tile * w_column,
        c=block.c.row + (first + tile) * block.c.pitch,
        a_k=head.a.pitch,
        w_k=w_k,
        w_column=w_column,
        c_column=block.c.pitch,
        a_piece=last.a.row - head.a.row,
        w_piece=last.w.row - head.w.row,
        rows=block.c.rows,
        k=head.a.blocks,
        pieces=len(pairs),
        columns=columns,
        last_depth=min(dim, block.depth - (last.k + last.a.blocks - 1) * dim),
        last_cols=min(dim, block.cols - (first + tile + columns - 1) * dim),
        accumulate=block.accumulate or head.k > 0,
        a_unsigned=block.a_unsigned,
        w_transposed=block.w_transposed,
    )
