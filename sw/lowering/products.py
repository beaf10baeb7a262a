"""Blocks of products: rows of A stream through the tiles of W, piece by piece."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from celosia.sw.ir.graph import View
from celosia.sw.ir.program import LocalRows, Products
from celosia.sw.lowering.cuts import even_cuts, tiles
from celosia.sw.lowering.rings import RING_SHARES, Ring
from celosia.sw.lowering.writer import ProgramWriter

__all__ = ["LocalRowsOfA", "MemoryRowsOfA", "ProductBlock", "RowsOfA", "multiply"]


class RowsOfA(Protocol):
    """The rows of A of a block: tile k has columns ``k*dim`` and on."""

    @property
    def unsigned(self) -> bool:
        """Whether elements of A are uint8."""
        ...

    def piece(self, k: int, count: int) -> LocalRows:
        """Tiles `k` and on in the scratchpad; they are there when the next step begins."""
        ...


@dataclass(frozen=True)
class LocalRowsOfA:
    """Rows that are in the scratchpad already."""

    rows: LocalRows
    unsigned: bool

    def piece(self, k: int, count: int) -> LocalRows:
        """The local rows of `count` tiles from `k` on."""
        return self.rows.block(k, count)


class MemoryRowsOfA:
    """Rows that are loaded, piece by piece, unless pieces of a larger block still hold them."""

    def __init__(self, writer: ProgramWriter, view: View, ring: Ring, block: View | None = None):
        self.unsigned = writer.tensors[view.tensor].type == "uint8"
        self._writer = writer
        self._view = view
        self._block = view if block is None else block
        """All rows that have been loaded together."""
        self._ring = ring

    def piece(self, k: int, count: int) -> LocalRows:
        """The local rows of `count` tiles from `k` on, loaded if they must be."""
        dim = self._writer.config.dim
        cols = min(count * dim, self._view.cols - k * dim)
        columns = {"col": k * dim, "cols": cols}
        whole = self._writer.loaded(self._block.part(**columns), self._ring)
        if whole is None:
            return self._writer.load(self._view.part(**columns), self._ring)
        first = whole.row + self._view.row - self._block.row
        return LocalRows(whole.space, first, self._view.rows, whole.blocks, whole.pitch)


@dataclass(frozen=True, kw_only=True)
class ProductBlock:
    """``C = A @ W`` for some rows, and for the columns of some tiles of W."""

    a: RowsOfA
    w: View
    """The weights as they stand in memory: all of K, and the columns of this block."""
    w_transposed: bool
    weights: Ring
    c: LocalRows
    """The rows of C in the accumulator, a block of them for each tile of columns."""
    piece_tiles: int
    """Tiles along K that are loaded at once."""
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

    def piece(self, k: int, depth: int, col: int, cols: int) -> View:
        """Part of W in memory."""
        if self.w_transposed:
            return self.w.part(row=col, rows=cols, col=k, cols=depth)
        return self.w.part(row=k, rows=depth, col=col, cols=cols)


def multiply(writer: ProgramWriter, block: ProductBlock) -> None:
    """Write the products of `block`; now and then, also some of what was deferred.

    Two pieces of A are used by turns, with every tile of columns: as they are in different banks,
    nobody who wants one of these waits for long.
    """
    dim = writer.config.dim
    writer.agenda.write_drains(block.c)
    for k, count in _cuts(tiles(block.depth, dim), 2 * block.piece_tiles):
        for j, columns in _cuts(tiles(block.cols, dim), _columns_at_once(writer, block)):
            pieces = _load_both(writer, block, (k, count), (j, columns))
            for op in _nests(writer, block, pieces, (j, columns)):
                writer.write(op)
            writer.trickle()


def _columns_at_once(writer: ProgramWriter, block: ProductBlock) -> int:
    """Tiles of columns that a command moves, and of which two pieces of W stay in their ring."""
    rows = RING_SHARES * block.piece_tiles * writer.config.dim
    return max(1, min(writer.config.max_blocks, block.weights.rows // rows))


def _cuts(count: int, most: int) -> Iterator[tuple[int, int]]:
    """Start and length of parts of `count` tiles, all but the last one of `most`."""
    for start in range(0, count, most):
        yield start, min(most, count - start)


@dataclass(frozen=True)
class _Pieces:
    """A piece of A and the piece of W that it meets, from tile `k` along K on."""

    k: int
    a: LocalRows
    w: LocalRows


def _load_both(
    writer: ProgramWriter, block: ProductBlock, along: tuple[int, int], across: tuple[int, int]
) -> list[_Pieces]:
    """The pieces of both halves of these tiles along K.

    One that was there already may be what the other one overwrites: then it is loaded again.
    """
    k, count = along
    halves = [(k + first, length) for first, length in even_cuts(count, tiles(count, 2))]
    pieces: list[_Pieces] = []
    while True:
        before, pieces = pieces, [_load_pieces(writer, block, half, across) for half in halves]
        if pieces == before:
            return pieces


def _load_pieces(
    writer: ProgramWriter, block: ProductBlock, along: tuple[int, int], across: tuple[int, int]
) -> _Pieces:
    """Pieces of these tiles (first and count) along K and across the columns of W."""
    dim = writer.config.dim
    (k, k_tiles), (j, columns) = along, across
    depth = min(k_tiles * dim, block.depth - k * dim)
    cols = min(columns * dim, block.cols - j * dim)
    a = block.a.piece(k, k_tiles)
    return _Pieces(k, a, writer.load(block.piece(k * dim, depth, j * dim, cols), block.weights))


def _nests(
    writer: ProgramWriter, block: ProductBlock, pieces: list[_Pieces], across: tuple[int, int]
) -> Iterator[Products]:
    """The products of pieces for some tiles of columns: one nest, if the pieces are alike."""
    if len({(piece.a.blocks, piece.a.pitch, piece.w.pitch) for piece in pieces}) == 1:
        yield _nest(writer, block, pieces, across)
        return
    first, count = across
    for tile in range(count):
        for piece in pieces:
            yield _nest(writer, block, [piece], (first, 1), tile)


def _nest(
    writer: ProgramWriter,
    block: ProductBlock,
    pieces: list[_Pieces],
    across: tuple[int, int],
    tile: int = 0,
) -> Products:
    """The products of pieces that are alike, for tiles of columns from `tile` on."""
    dim = writer.config.dim
    (first, columns), head, last = across, pieces[0], pieces[-1]
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
        pieces=len(pieces),
        columns=columns,
        last_depth=min(dim, block.depth - (last.k + last.a.blocks - 1) * dim),
        last_cols=min(dim, block.cols - (first + tile + columns - 1) * dim),
        accumulate=block.accumulate or head.k > 0,
        a_unsigned=block.a.unsigned,
        w_transposed=block.w_transposed,
    )
