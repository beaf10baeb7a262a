"""Stages of sums to operations: products or int32 from memory, their drains and normalization."""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from itertools import product

from celosia.isa.encoding import Function
from celosia.sw.ir.graph import AddResidual, LayerNorm, MatMul, Softmax, Transform
from celosia.sw.ir.program import LocalRows, Op, Space
from celosia.sw.planning.extents import in_order, tiles
from celosia.sw.planning.forms.stages import LinearStage, TailPart
from celosia.sw.scheduling.drains import (
    Leaving,
    SumsBlock,
    chunks,
    drained,
    mask_settings,
    transformed,
)
from celosia.sw.scheduling.expansion.expand_norm import NormBlock, norm_settings, normalized
from celosia.sw.scheduling.moves import Moves
from celosia.sw.scheduling.nests import ProductBlock, RowsInMemory, products

__all__ = ["expand_linear", "product_blocks"]

Cut = tuple[int, int]
"""Start and length, in elements."""


def expand_linear(
    stage: LinearStage, op: MatMul | Transform, norm: LayerNorm | None, moves: Moves
) -> Iterator[Op]:
    """The operations of a legal `stage` that computes `op`, and `norm` of its results, if any."""
    if norm is None and not isinstance(op.finish, Softmax):
        for block in product_blocks(stage, op, moves):
            yield from block
        return
    expansion = _Expansion(stage, op, moves)
    for cut in in_order(stage.rows):
        if isinstance(op.finish, Softmax):
            yield from expansion.softmax(op.finish, cut)
        else:
            assert norm is not None
            yield from expansion.normalized(norm, cut, last=sum(cut) == op.out.rows)


def product_blocks(
    stage: LinearStage, op: MatMul | Transform, moves: Moves
) -> Iterator[Iterator[Op]]:
    """The operations of each block of sums that nothing is counted of."""
    expansion = _Expansion(stage, op, moves)
    yield from map(expansion.block, expansion.visits())


@dataclass(frozen=True, kw_only=True)
class _Visit:
    """A block of sums, or a part of one."""

    number: int = 0
    rows: Cut
    columns: Cut
    """The columns of the whole block."""
    part: Cut
    """The columns of this part."""
    together: Cut | None = None
    """The rows of a larger block of results, whose operands are loaded together; None: these."""
    backwards: bool = False
    """The last pieces along K come first."""


class _Expansion:
    def __init__(self, stage: LinearStage, op: MatMul | Transform, moves: Moves):
        self.stage, self.op, self.moves = stage, op, moves
        self.dim = moves.dim
        self.columns = self._columns(stage.tiles, (0, op.out.cols))

    def _columns(self, tiles: tuple[int, ...], within: Cut) -> list[Cut]:
        """Columns of consecutive `tiles`, from the first ones `within` some on."""
        (first, cols), dim = within, self.dim
        return [
            (first + tile * dim, min(count * dim, cols - tile * dim))
            for tile, count in in_order(tiles)
        ]

    def visits(self) -> Iterator[_Visit]:
        """All blocks in order; the last one in its parts."""
        stage = self.stage
        rows = list(in_order(stage.rows))
        blocks = list(product(rows, self.columns))
        if stage.outer == "cols":
            blocks = [(row, columns) for columns, row in product(self.columns, rows)]
        for number, (row, columns) in enumerate(blocks):
            parts = [columns]
            if stage.parts and number == len(blocks) - 1:
                parts = self._columns(stage.parts, columns)
            for part in parts:
                yield _Visit(number=number, rows=row, columns=columns, part=part)

    def block(self, visit: _Visit) -> Iterator[Op]:
        """A block of sums, and how it leaves."""
        sums = yield from self.summed(self.described(visit.rows), visit)
        if self.stage.drain.by == "transform":
            yield from drained(self.moves, self.op.finish, sums, self.stage.drain)

    def described(self, cut: Cut) -> SumsBlock:
        """The sums of whole rows, wherever they will be."""
        (row, rows), op = cut, self.op
        residual = None
        if isinstance(op.finish, AddResidual):
            residual = op.finish.residual.part(row=row, rows=rows)
        copies = op.copies[row : row + rows] if isinstance(op, MatMul) else ()
        return SumsBlock(
            rows=LocalRows(Space.ACCUMULATOR, 0, rows, tiles(op.out.cols, self.dim), rows),
            out=op.out.part(row=row, rows=rows),
            bias=op.bias,
            scale=getattr(op.finish, "scale", 1.0),
            residual=residual,
            copies=copies,
        )

    def summed(self, sums: SumsBlock, visit: _Visit) -> Generator[Op, None, SumsBlock]:
        """The columns of a visit to `sums` in the accumulator; what stores take leaves it."""
        (row, rows), (col, cols), op, stage = visit.rows, visit.part, self.op, self.stage
        part = sums.part(self.dim, col, cols)
        if isinstance(op, Transform):
            source = op.source.part(row=row, rows=rows, col=col, cols=cols)
            part = replace(part, rows=(yield from self.moves.load(source, stage.sums)))
        else:
            key = "sums", part.out
            part = replace(part, rows=self.moves.sums(stage.sums, key, rows, tiles(cols, self.dim)))
        leaving = self._leaving(part, visit) if stage.drain.by == "mvout" else None
        if isinstance(op, MatMul):
            yield from self._products(op, part.rows, visit, leaving)
        elif leaving is not None:
            yield from leaving.all()
        return part

    def _leaving(self, part: SumsBlock, visit: _Visit) -> Leaving:
        (col, cols), drain = visit.columns, self.stage.drain
        bias = self.op.bias and self.op.bias.part(col=col, cols=cols)
        first = (visit.part[0] - col) // self.dim
        return Leaving(
            moves=self.moves, how=self.op.finish, sums=part, drain=drain, bias=bias, first=first
        )

    def _products(
        self, op: MatMul, c: LocalRows, visit: _Visit, leaving: Leaving | None
    ) -> Iterator[Op]:
        """The products of a visit: of some rows of a block of A."""
        (col, cols), stage = visit.columns, self.stage
        cuts = visit.rows, visit.together or visit.rows
        view, block = (op.a.part(row=row, rows=rows) for row, rows in cuts)
        turn_a, turn_w = (None if pieces.keep else visit.number for pieces in (stage.a, stage.w))
        for k, depth in self._along(visit, op.a.cols):
            a = RowsInMemory(view=view, ring=stage.a.ring, block=block)
            if stage.a.tiles:
                piece = view.part(col=k, cols=depth)
                a = yield from self.moves.load(piece, stage.a.ring, turn_a)
            block_of_products = ProductBlock(
                a=a,
                a_unsigned=self.moves.type(op.a) == "uint8",
                w=op.b.part(row=k, rows=depth, col=col, cols=cols, transposed=op.b_transposed),
                w_transposed=op.b_transposed,
                w_type=self.moves.packing(op.b),
                pieces=stage.w,
                turn=turn_w,
                columns=((visit.part[0] - col) // self.dim, c.blocks),
                c=c,
                accumulate=k > 0,
                backwards=visit.backwards,
            )
            last = k + depth == op.a.cols
            yield from products(self.moves, block_of_products, leaving if last else None)

    def _along(self, visit: _Visit, depth: int) -> Iterator[Cut]:
        """K as pieces of A hold it; all of it, if they have no tiles of their own.

        Blocks that meet the pieces of the very first one, if they are kept, have the same.
        """
        a, dim = self.stage.a, self.dim
        if not a.tiles:
            yield 0, depth
            return
        small = a.first and (visit.number == 0 or (a.keep and visit.rows[0] == 0))
        start, size = 0, (a.first if small else a.tiles) * dim
        while start < depth:
            yield start, min(size, depth - start)
            start, size = start + size, a.tiles * dim

    def normalized(self, norm: LayerNorm, cut: Cut, *, last: bool) -> Iterator[Op]:
        """A block of rows, and behind their sums their normalization; the `last` one in parts."""
        stage, finish, (row, rows) = self.stage, self.op.finish, cut
        assert stage.norm is not None
        slot = self._slot(cut)
        sums = replace(self.described(cut), slot=slot)
        counted = norm_settings(norm)
        tails = stage.tail if last else ()
        *before, end = self.columns
        for columns in before:
            visit = _Visit(rows=cut, columns=columns, part=columns)
            part = yield from self.summed(sums, visit)
            yield from drained(self.moves, finish, part, stage.drain, counted)
        first = 0
        for number, tail in enumerate(tails or (TailPart(rows=rows, tiles=stage.norm.tiles),)):
            some = sums.rows_part(first, tail.rows)
            visit = _Visit(
                rows=(row + first, tail.rows),
                columns=end,
                part=end,
                together=cut,
                # To and fro along K: what the part before has used last is still there.
                backwards=bool(tails) and number % 2 == 0,
            )
            part = yield from self.summed(some, visit)
            yield from drained(self.moves, finish, part, stage.drain, counted)
            block = NormBlock(norm, row + first, tail.rows, slot + first)
            yield from normalized(self.moves, block, tail.of(stage.norm))
            first += tail.rows

    def softmax(self, how: Softmax, cut: Cut) -> Iterator[Op]:
        """Softmax by three passes; over the sums of the first one, if they are one block."""
        sums = replace(self.described(cut), slot=self._slot(cut))
        whole = None
        for function in (Function.MAXIMUM, Function.SUM, Function.PROBABILITY):
            for columns in self.columns:
                if whole is None or len(self.columns) > 1:
                    visit = _Visit(rows=cut, columns=columns, part=columns)
                    whole = yield from self.summed(sums, visit)
                yield from self._pass(how, function, whole, cut[0])

    def _pass(self, how: Softmax, function: Function, sums: SumsBlock, row: int) -> Iterator[Op]:
        """A pass over sums: more than one transform, if they write or take parameters."""
        stage, moves = self.stage, self.moves
        writes = function is Function.PROBABILITY
        parts = chunks(sums, stage.drain, self.dim) if writes or sums.bias else [sums]
        for part in parts:
            settings = {"statistics": sums.slot}
            targets: tuple[LocalRows, ...] = ()
            if writes:
                settings["type"] = moves.element_type(part.out)
                targets = (moves.take(part.out, stage.drain.results),)
            else:
                settings |= {"start": int(part.first), "finish": int(part.last)}
            mask = mask_settings(how.mask, row, part.out.col - self.op.out.col)
            yield from transformed(moves, function, part, stage.drain, settings, targets, mask=mask)
            for target in targets:
                yield from moves.store(part.out, target)

    def _slot(self, cut: Cut) -> int:
        """The first slot of statistics for a block of rows."""
        return self.moves.rings[self.stage.slots].take((self.op.name, cut), cut[1])
