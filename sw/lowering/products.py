"""Blocks of products: rows of A stream through the tiles of W, piece by piece."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from celosia.sw.ir.graph import View
from celosia.sw.ir.program import LocalRows, Multiply
from celosia.sw.lowering.cuts import tiles
from celosia.sw.lowering.rings import Ring
from celosia.sw.lowering.writer import ProgramWriter

__all__ = ["LocalRowsOfA", "MemoryRowsOfA", "ProductBlock", "RowsOfA", "multiply"]


class RowsOfA(Protocol):
    """The rows of A of a block: tile k has columns ``k*dim`` and on."""

    @property
    def unsigned(self) -> bool:
        """Elements are uint8."""
        ...

    def tile(self, k: int) -> int:
        """First scratchpad row of tile `k`, which is there when the next step begins."""
        ...


@dataclass(frozen=True)
class LocalRowsOfA:
    """Rows that are in the scratchpad already."""

    rows: LocalRows
    unsigned: bool

    def tile(self, k: int) -> int:
        """First scratchpad row of tile `k`."""
        return self.rows.row + k * self.rows.pitch


class MemoryRowsOfA:
    """Rows that are loaded, some tiles at a time."""

    def __init__(self, writer: ProgramWriter, view: View, ring: Ring, piece_tiles: int):
        self.unsigned = writer.tensors[view.tensor].type == "uint8"
        self._writer = writer
        self._view = view
        self._ring = ring
        self._piece_tiles = piece_tiles
        self._piece: tuple[int, LocalRows] | None = None

    def tile(self, k: int) -> int:
        """First scratchpad row of tile `k`."""
        number, tile = divmod(k, self._piece_tiles)
        if self._piece is None or self._piece[0] != number:
            dim = self._writer.config.dim
            col = number * self._piece_tiles * dim
            cols = min(self._piece_tiles * dim, self._view.cols - col)
            part = self._view.part(col=col, cols=cols)
            self._piece = number, self._writer.load(part, self._ring)
        rows = self._piece[1]
        return rows.row + tile * rows.pitch


@dataclass(frozen=True, kw_only=True)
class ProductBlock:
    """``C = A @ W`` for some rows, and for the columns of some tiles of W."""

    a: RowsOfA
    w: View
    """As it stands in memory; all of K, and the columns of this block."""
    w_transposed: bool
    weights: Ring
    c: LocalRows
    """In the accumulator, a block for each tile of columns."""
    piece_tiles: int
    """Tiles along K that are loaded at once."""
    accumulate: bool = False
    """Add to what is in C."""

    @property
    def depth(self) -> int:
        """Columns of A."""
        return self.w.cols if self.w_transposed else self.w.rows

    @property
    def cols(self) -> int:
        """Columns of C."""
        return self.w.rows if self.w_transposed else self.w.cols

    def piece(self, k: int, depth: int, col: int, cols: int) -> View:
        """Part of W in memory."""
        if self.w_transposed:
            return self.w.part(row=col, rows=cols, col=k, cols=depth)
        return self.w.part(row=k, rows=depth, col=col, cols=cols)


def multiply(writer: ProgramWriter, block: ProductBlock) -> None:
    """Write the products of `block`; between pieces, also some of what was deferred.

    Each piece of W is used from start to end: for pieces along K, for groups of tiles of columns,
    for tiles along K in the piece, for tiles of columns in the group.
    """
    dim = writer.config.dim
    for k in range(0, tiles(block.depth, dim), block.piece_tiles):
        for j in range(0, tiles(block.cols, dim), writer.config.max_blocks):
            for op in _piece_products(writer, block, k, j):
                writer.write(op)
            writer.trickle()


def _piece_products(
    writer: ProgramWriter, block: ProductBlock, first_k: int, first_j: int
) -> Iterator[Multiply]:
    """The products with one piece of W, which begins with tile `first_k` along K."""
    dim, most = writer.config.dim, writer.config.max_blocks
    depth = min(block.piece_tiles * dim, block.depth - first_k * dim)
    cols = min(most * dim, block.cols - first_j * dim)
    writer_rows = None
    for k in range(tiles(depth, dim)):
        a = block.a.tile(first_k + k)
        if writer_rows is None:
            view = block.piece(first_k * dim, depth, first_j * dim, cols)
            writer_rows = writer.load(view, block.weights)
        for j in range(tiles(cols, dim)):
            across, down = (k, j) if block.w_transposed else (j, k)
            yield Multiply(
                a=a,
                w=writer_rows.row + across * writer_rows.pitch + down * dim,
                c=block.c.row + (first_j + j) * block.c.pitch,
                rows=block.c.rows,
                depth=min(dim, depth - k * dim),
                cols=min(dim, cols - j * dim),
                accumulate=block.accumulate or first_k + k > 0,
                a_unsigned=block.a.unsigned,
                w_transposed=block.w_transposed,
            )
