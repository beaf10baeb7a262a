"""Products of a block: rows of A stream through the tiles of W, nest by nest."""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple

from celosia.isa.encoding import WeightType
from celosia.sw.ir.causal import Diagonal
from celosia.sw.ir.graph import View
from celosia.sw.ir.program import LocalRows, Op, Products
from celosia.sw.planning.extents import even_cuts, full_sizes, in_order, tiles
from celosia.sw.planning.forms.stages import PiecesOfW
from celosia.sw.scheduling.drains import Leaving
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
    """The weights as they stand in memory: along K those that A meets, and the columns of this
    block."""
    w_transposed: bool
    w_type: WeightType = WeightType.INT8
    pieces: PiecesOfW
    turn: int | None = None
    """Pieces of W that were loaded in another turn are loaded again; None: there are no turns."""
    columns: Cut | None = None
    """The tiles of columns that are computed, the first and their number; None: all."""
    c: LocalRows
    """The rows of C in the accumulator, a block of them for each of these tiles."""
    accumulate: bool = False
    """Add to what is in C."""
    diagonal: Diagonal | None = None
    """Which keys rows see: tiles of others are left out; None: all keys."""
    keys_along: bool = False
    """Keys are along K; else they are columns of C."""
    backwards: bool = False
    """The last pieces along K come first."""
    met: tuple[int, int] | None = None
    """The rows that are computed, the first and that behind the last; None: all."""

    @property
    def depth(self) -> int:
        """The number of columns of A."""
        return self.w.cols if self.w_transposed else self.w.rows

    @property
    def cols(self) -> int:
        """The number of columns of C."""
        return self.w.rows if self.w_transposed else self.w.cols


class _Pair(NamedTuple):
    """A piece of A and the piece of W that it meets, from tile `k` along K on."""

    k: int
    a: LocalRows
    w: LocalRows
    begins: bool = False
    """Nothing comes before it: unless the block accumulates, its first products only write."""

    def moved(self, rows: int) -> "_Pair":
        """The same with a piece of W that begins so many rows further."""
        w = self.w
        w = LocalRows(w.space, w.row + rows, w.rows, w.blocks, w.pitch)
        return _Pair(self.k, self.a, w, self.begins)


def products(moves: Moves, block: ProductBlock, leaving: Leaving | None = None) -> Iterator[Op]:
    """The loads and products of `block`, each load before its first product.

    Sums that are `leaving` do so behind the last products of their columns.
    """
    pieces, dim = block.pieces, moves.dim
    first, count = block.columns or (0, tiles(block.cols, dim))
    along = list(in_order(full_sizes(tiles(block.depth, dim), pieces.pieces * pieces.k_tiles)))
    if block.backwards:
        along.reverse()
    for k in along:
        for piece in in_order(full_sizes(tiles(block.cols, dim), pieces.columns)):
            columns = _meeting(piece, (first, count))
            if columns is None:
                continue
            pairs = yield from _load(moves, block, k, piece)
            if block.backwards and not _alike(pairs):
                pairs.reverse()
            if k == along[0]:
                pairs[0] = pairs[0]._replace(begins=True)
            if leaving is None or k != along[-1]:
                yield from _nests(block, pairs, columns, dim, piece[0])
                continue
            for part in leaving.cuts(columns, first):
                yield from _nests(block, pairs, part, dim, piece[0])
                yield from leaving.behind(sum(part) - first)


def _meeting(one: Cut, other: Cut) -> Cut | None:
    """What two cuts have in common, if anything."""
    begin, end = max(one[0], other[0]), min(sum(one), sum(other))
    return (begin, end - begin) if begin < end else None


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
        taken, before, pairs = moves.taken, pairs, []
        for part in parts:
            pairs.append((yield from _load_pair(moves, block, part, across)))
        if moves.taken == taken or pairs == before:
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
    view = block.w.part(row=row, rows=rows, col=col, cols=cols, transposed=block.w_transposed)
    if block.w_type is not WeightType.INT8:  # Lines of a tile share rows: all of it is loaded.
        view = replace(view, rows=tiles(view.rows, dim) * dim)
    w = yield from moves.load(view, block.pieces.ring, block.turn)
    assert a is not None
    return _Pair(k, a, w)


def _nests(
    block: ProductBlock, pairs: list[_Pair], across: Cut, dim: int, start: int
) -> Iterator[Products]:
    """The products of pieces for some tiles of columns, without tiles of keys that no row sees.

    Pieces of W begin with the tile of columns `start`.
    """
    if block.diagonal is None:
        yield from _alike_nests(block, pairs, across, dim, start)
    elif block.keys_along:
        for part, met in _seen_along(block, pairs, block.diagonal, dim):
            yield from _alike_nests(replace(block, met=met), part, across, dim, start)
    else:
        for tile, count, met in _runs(*across, block, block.diagonal, dim):
            yield from _alike_nests(replace(block, met=met), pairs, (tile, count), dim, start)


def _runs(
    first: int, count: int, block: ProductBlock, diagonal: Diagonal, dim: int
) -> Iterator[tuple[int, int, tuple[int, int]]]:
    """Some tiles of keys that the same rows meet: the first, their number and the rows."""
    tiles = range(first, first + count)
    for met, alike in groupby(tiles, lambda tile: diagonal.rows(tile * dim, block.c.rows, dim)):
        run = list(alike)
        if met[0] < met[1]:
            yield run[0], len(run), met


def _seen_along(
    block: ProductBlock, pairs: list[_Pair], diagonal: Diagonal, dim: int
) -> Iterator[tuple[list[_Pair], tuple[int, int]]]:
    """Pieces, or parts of one, and the rows that meet them.

    Rows whose window is over stay among those that meet a tile: their numerators are 0.
    """
    last, rows = pairs[-1], block.c.rows
    diagonal = replace(diagonal, window=None)
    if diagonal.rows((last.k + last.a.blocks - 1) * dim, rows, dim) == (0, rows):
        yield pairs, (0, rows)
        return
    for pair in pairs:
        for tile, count, met in _runs(pair.k, pair.a.blocks, block, diagonal, dim):
            within = tile - pair.k
            w = replace(pair.w, row=pair.w.row + within * dim, rows=count * dim)
            begins = pair.begins and within == 0
            yield [_Pair(tile, pair.a.block(within, count), w, begins)], met


def _alike(pairs: list[_Pair]) -> bool:
    """Whether one nest takes all of these pieces."""
    return len({(pair.a.blocks, pair.a.pitch, pair.w.pitch) for pair in pairs}) == 1


def _alike_nests(
    block: ProductBlock, pairs: list[_Pair], across: Cut, dim: int, start: int
) -> Iterator[Products]:
    """The products of pieces for some tiles of columns: one nest, if the pieces are alike."""
    tile = across[0] - start
    if tile:
        rows = block.w_type.tile_rows(dim)
        steps = [rows if block.w_transposed else pair.w.pitch for pair in pairs]
        pairs = [pair.moved(tile * step) for pair, step in zip(pairs, steps, strict=True)]
    if _alike(pairs):
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
    w_k, w_column = head.w.pitch, block.w_type.tile_rows(dim)
    place = first + tile - (block.columns or (0, 0))[0]
    row, behind = block.met or (0, block.c.rows)
    if not block.w_transposed:
        w_k, w_column = w_column, w_k
    return Products(
        a=head.a.row + row,
        w=head.w.row + tile * w_column,
        c=block.c.row + row + place * block.c.pitch,
        a_k=head.a.pitch,
        w_k=w_k,
        w_column=w_column,
        c_column=block.c.pitch,
        a_piece=last.a.row - head.a.row,
        w_piece=last.w.row - head.w.row,
        rows=behind - row,
        k=head.a.blocks,
        pieces=len(pairs),
        columns=columns,
        last_depth=min(dim, block.depth - (last.k + last.a.blocks - 1) * dim),
        last_cols=min(dim, block.cols - (first + tile + columns - 1) * dim),
        accumulate=block.accumulate or not head.begins,
        a_unsigned=block.a_unsigned,
        w_transposed=block.w_transposed,
        w_type=block.w_type,
    )
