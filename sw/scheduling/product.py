"""A product stage to operations in order of meaning.

Loads stand right before the first product that needs them, stores right behind the last one.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

from celosia.sw.ir.graph import Graph, MatMul, Requantize, View
from celosia.sw.ir.program import (
    Drain,
    Load,
    LoadParameters,
    LocalRows,
    Op,
    Products,
    Store,
)
from celosia.sw.planning.forms.plan import Plan, ProductStage
from celosia.sw.scheduling.pieces import Pieces

__all__ = ["expand_product"]

Cut = tuple[int, int]
"""Start and length, in elements or in tiles."""


@dataclass(frozen=True)
class _Block:
    """A block of C, or a part of the last one."""

    number: int
    row: Cut
    """The block's rows of C: start and length in elements."""
    tiles: Cut
    """Column tiles of the whole block."""
    part: Cut
    """Column tiles of this part."""


def expand_product(
    stage: ProductStage, op: MatMul, graph: Graph, plan: Plan, rings: dict[str, Pieces]
) -> Iterator[Op]:
    """The operations of a legal `stage`, whose pieces take rows of `rings`."""
    return _Expansion(stage, op, graph, plan, rings).ops()


class _Expansion:
    def __init__(
        self,
        stage: ProductStage,
        op: MatMul,
        graph: Graph,
        plan: Plan,
        rings: dict[str, Pieces],
    ):
        self.stage, self.op, self.rings = stage, op, rings
        self.dim = plan.machine.dim
        self.unsigned = graph.tensors[op.a.tensor].type == "uint8"
        self.pitch = max(stage.rows)
        self.k_tiles = -(-op.a.cols // self.dim)

    def ops(self) -> Iterator[Op]:
        for block in self._blocks():
            yield from self._block(block)

    def _blocks(self) -> Iterator[_Block]:
        stage = self.stage
        rows, tiles = _starts(stage.rows), _starts(stage.tiles)
        if stage.outer == "rows":
            visits = [(row, tile) for row in rows for tile in tiles]
        else:
            visits = [(row, tile) for tile in tiles for row in rows]
        for number, (row, tile) in enumerate(visits):
            last = number == len(visits) - 1
            parts = _starts(stage.tail) if last and stage.tail else [(0, tile[1])]
            for start, size in parts:
                yield _Block(number, row, tile, (tile[0] + start, size))

    def _block(self, block: _Block) -> Iterator[Op]:
        count, (first, size) = block.row[1], block.part
        sums = self.rings[self.stage.sums].take((block, "sums"), size * self.pitch)
        for k, a_tiles in self._groups(block):
            for b_k in _cuts((k, a_tiles), self.stage.b.k_tiles):
                for b_n in _cuts(block.tiles, self.stage.b.n_tiles):
                    begin, end = max(b_n[0], first), min(sum(b_n), first + size)
                    if begin >= end:
                        continue
                    a = yield from self._piece_of_a(block, (k, a_tiles))
                    b = yield from self._piece_of_b(block, b_k, b_n)
                    for store in self._meeting(block, (begin, end - begin)):
                        c = LocalRows(
                            self.rings[self.stage.sums].space,
                            sums + (store[0] - first) * self.pitch,
                            count,
                            store[1],
                            self.pitch,
                        )
                        yield from self._nests(a, (k, b_k), b, (b_n, store), c)
                        if sum(b_k) == self.k_tiles:
                            yield from self._stores(block, store, sums)

    def _meeting(self, block: _Block, tiles: Cut) -> Iterator[Cut]:
        """`tiles` where the tiles that leave together end."""
        for start, size in _cuts(block.part, self.stage.drain.tiles):
            begin, end = max(start, tiles[0]), min(start + size, sum(tiles))
            if begin < end:
                yield begin, end - begin

    def _groups(self, block: _Block) -> list[Cut]:
        """The tiles of K that the pieces of A hold.

        Blocks that meet the pieces of the very first one, if they are kept, have the same.
        """
        a = self.stage.a
        small = block.number == 0 or (a.keep and not block.row[0])
        first = a.first if small else a.tiles
        return [(0, first), *_cuts((first, self.k_tiles - first), a.tiles)]

    def _piece_of_a(self, block: _Block, k: Cut) -> Iterator[Op]:
        """The rows of a piece of A; it is loaded unless it is there."""
        col, cols = self._elements(k, self.op.a.cols)
        view = self.op.a.part(row=block.row[0], rows=block.row[1], col=col, cols=cols)
        rows = yield from self._loaded(view, self.stage.a.ring, self.pitch, self._serves_a(block))
        return rows

    def _piece_of_b(self, block: _Block, k: Cut, n: Cut) -> Iterator[Op]:
        """The rows of a piece of B; it is loaded unless it is there."""
        (k_start, depth), op = self._elements(k, self.op.a.cols), self.op
        col, cols = self._elements(n, op.out.cols)
        if op.b_transposed:
            view = op.b.part(row=col, rows=cols, col=k_start, cols=depth)
            pitch = self.stage.b.n_tiles * self.dim
        else:
            view = op.b.part(row=k_start, rows=depth, col=col, cols=cols)
            pitch = self.stage.b.k_tiles * self.dim
        rows = yield from self._loaded(view, self.stage.b.ring, pitch, self._serves_b(block))
        return rows

    def _serves_a(self, block: _Block) -> int:
        return -1 if self.stage.a.keep else block.number

    def _serves_b(self, block: _Block) -> int:
        return -1 if self.stage.b.keep else block.number

    def _loaded(self, view: View, name: str, pitch: int, block: int) -> Iterator[Op]:
        ring, blocks = self.rings[name], -(-view.cols // self.dim)
        row = ring.find((view, block))
        if row is None:
            row = ring.take((view, block), (blocks - 1) * pitch + view.rows)
            yield Load(view, LocalRows(ring.space, row, view.rows, blocks, pitch))
        return LocalRows(ring.space, row, view.rows, blocks, pitch)

    def _nests(
        self, a: LocalRows, k: tuple[int, Cut], b: LocalRows, n: tuple[Cut, Cut], c: LocalRows
    ) -> Iterator[Products]:
        """The products of a piece of A and one of B: along the rows of B's tiles in memory."""
        (a_k, b_k), (b_n, part) = k, n
        w_k, w_column = self.dim, b.pitch
        if self.op.b_transposed:
            w_k, w_column = w_column, w_k
        steps = [(0, b_k[1])] if self.op.b_transposed else [(i, 1) for i in range(b_k[1])]
        for start, count in steps:
            depth = self._elements((b_k[0] + start + count - 1, 1), self.op.a.cols)[1]
            yield Products(
                a=a.row + (b_k[0] + start - a_k) * a.pitch,
                w=b.row + start * w_k + (part[0] - b_n[0]) * w_column,
                c=c.row,
                a_k=a.pitch,
                w_k=w_k,
                w_column=w_column,
                c_column=c.pitch,
                rows=c.rows,
                k=count,
                pieces=1,
                columns=part[1],
                last_depth=depth,
                last_cols=self._elements((sum(part) - 1, 1), self.op.out.cols)[1],
                accumulate=b_k[0] + start > 0,
                a_unsigned=self.unsigned,
                w_transposed=self.op.b_transposed,
            )

    def _stores(self, block: _Block, done: Cut, sums: int) -> Iterator[Op]:
        """Stores of what is complete with the tiles `done`."""
        first = block.part[0]
        for tiles in _cuts(block.part, self.stage.drain.tiles):
            if sum(tiles) != sum(done):
                continue
            col, cols = self._elements(tiles, self.op.out.cols)
            row = sums + (tiles[0] - first) * self.pitch
            space = self.rings[self.stage.sums].space
            drain = yield from self._drain(block, tiles)
            view = self.op.out.part(row=block.row[0], rows=block.row[1], col=col, cols=cols)
            yield Store(view, LocalRows(space, row, block.row[1], tiles[1], self.pitch), drain)

    def _drain(self, block: _Block, tiles: Cut) -> Iterator[Op]:
        """How the sums of `tiles` leave; the bias of the block is loaded unless it is there."""
        bias_row = None
        if self.op.bias is not None:
            ring = self.rings[self.stage.bias]
            col, cols = self._elements(block.tiles, self.op.out.cols)
            view = self.op.bias.part(col=col, cols=cols)
            bias_row = ring.find(view)
            if bias_row is None:
                bias_row = ring.take(view, block.tiles[1])
                rows = LocalRows(ring.space, bias_row, block.tiles[1], 1, block.tiles[1])
                yield LoadParameters(view, rows)
            bias_row += tiles[0] - block.tiles[0]
        match self.op.finish:
            case Requantize(float() | int() as scale, _, relu):
                return Drain(float(scale), relu, bias_row)
            case _:
                return Drain(bias_row=bias_row)

    def _elements(self, tiles: Cut, extent: int) -> Cut:
        start = tiles[0] * self.dim
        return start, min(tiles[1] * self.dim, extent - start)


def _cuts(extent: Cut, step: int) -> list[Cut]:
    """`extent` in pieces of `step`; only the last may be short."""
    end = sum(extent)
    return [(start, min(step, end - start)) for start in range(extent[0], end, step)]


def _starts(sizes: tuple[int, ...]) -> list[Cut]:
    """Start and length of consecutive pieces of these `sizes`."""
    return [(end - size, size) for end, size in zip(accumulate(sizes), sizes, strict=True)]
