"""Stages of sums to operations: products or int32 from memory, their drains and normalization."""

from collections.abc import Generator, Iterator
from dataclasses import replace
from itertools import accumulate

from celosia.isa.encoding import Function
from celosia.sw.ir.graph import AddResidual, LayerNorm, MatMul, Softmax, Transform, View
from celosia.sw.ir.program import LocalRows, Op
from celosia.sw.planning.extents import tiles
from celosia.sw.planning.forms.stages import LinearStage, TailPart
from celosia.sw.scheduling.drains import SumsBlock, chunks, drained, mask_settings, transformed
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
    for end, rows in zip(accumulate(stage.rows), stage.rows, strict=True):
        cut, last = (end - rows, rows), end == op.out.rows
        if isinstance(op.finish, Softmax):
            yield from expansion.softmax(op.finish, cut)
        else:
            assert norm is not None
            yield from expansion.normalized(norm, cut, last=last)


def product_blocks(
    stage: LinearStage, op: MatMul | Transform, moves: Moves
) -> Iterator[Iterator[Op]]:
    """The operations of each block of sums that nothing is counted of: rows are outermost."""
    expansion = _Expansion(stage, op, moves)
    for end, rows in zip(accumulate(stage.rows), stage.rows, strict=True):
        for columns in expansion.columns:
            yield expansion.block((end - rows, rows), columns)


class _Expansion:
    def __init__(self, stage: LinearStage, op: MatMul | Transform, moves: Moves):
        self.stage, self.op, self.moves = stage, op, moves
        self.dim = moves.dim
        ends = accumulate(stage.tiles)
        starts = [(end - count) * self.dim for end, count in zip(ends, stage.tiles, strict=True)]
        self.columns: list[Cut] = [
            (col, min(count * self.dim, op.out.cols - col))
            for col, count in zip(starts, stage.tiles, strict=True)
        ]

    def block(self, cut: Cut, columns: Cut) -> Iterator[Op]:
        """A block of sums, and how it leaves."""
        sums = yield from self.summed(self.described(cut), columns)
        yield from drained(self.moves, self.op.finish, sums, self.stage.drain)

    def described(self, cut: Cut) -> SumsBlock:
        """The sums of whole rows, wherever they will be."""
        (row, rows), op = cut, self.op
        residual = None
        if isinstance(op.finish, AddResidual):
            residual = op.finish.residual.part(row=row, rows=rows)
        copies = op.copies[row : row + rows] if isinstance(op, MatMul) else ()
        return SumsBlock(
            rows=LocalRows(self._ring.space, 0, rows, tiles(op.out.cols, self.dim), rows),
            out=op.out.part(row=row, rows=rows),
            bias=op.bias,
            scale=getattr(op.finish, "scale", 1.0),
            residual=residual,
            copies=copies,
        )

    def summed(
        self,
        sums: SumsBlock,
        columns: Cut,
        block: View | None = None,
        *,
        backwards: bool = False,
    ) -> Generator[Op, None, SumsBlock]:
        """Some columns of `sums` in the accumulator.

        They may be rows of a larger `block` of results, whose operands may still be there.
        """
        (col, cols), op = columns, self.op
        row, rows = sums.out.row - op.out.row, sums.out.rows
        part = sums.part(self.dim, col, cols)
        if isinstance(op, Transform):
            source = op.source.part(row=row, rows=rows, col=col, cols=cols)
            return replace(part, rows=(yield from self.moves.load(source, self.stage.sums)))
        blocks = tiles(cols, self.dim)
        first = self._ring.take(("sums", part.out), blocks * rows)
        c = LocalRows(self._ring.space, first, rows, blocks, rows)
        whole = block or sums.out
        together = op.a.part(row=whole.row - op.out.row, rows=whole.rows)
        assert self.stage.w is not None
        product = ProductBlock(
            a=RowsInMemory(view=op.a.part(row=row, rows=rows), ring=self.stage.a, block=together),
            a_unsigned=self.moves.type(op.a) == "uint8",
            w=op.b.part(row=col, rows=cols) if op.b_transposed else op.b.part(col=col, cols=cols),
            w_transposed=op.b_transposed,
            pieces=self.stage.w,
            c=c,
            backwards=backwards,
        )
        yield from products(self.moves, product)
        return replace(part, rows=c)

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
            part = yield from self.summed(sums, columns)
            yield from drained(self.moves, finish, part, stage.drain, counted)
        first = 0
        for number, tail in enumerate(tails or (TailPart(rows=rows, tiles=stage.norm.tiles),)):
            some = sums.rows_part(first, tail.rows)
            # To and fro along K: what the part before has used last is still there.
            backwards = bool(tails) and number % 2 == 0
            part = yield from self.summed(some, end, sums.out, backwards=backwards)
            yield from drained(self.moves, finish, part, stage.drain, counted)
            block = NormBlock(norm, row + first, tail.rows, slot + first)
            yield from normalized(self.moves, block, stage.norm, tail.tiles, tail.source)
            first += tail.rows

    def softmax(self, how: Softmax, cut: Cut) -> Iterator[Op]:
        """Softmax by three passes; over the sums of the first one, if they are one block."""
        sums = replace(self.described(cut), slot=self._slot(cut))
        whole = None
        for function in (Function.MAXIMUM, Function.SUM, Function.PROBABILITY):
            for columns in self.columns:
                if whole is None or len(self.columns) > 1:
                    whole = yield from self.summed(sums, columns)
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

    @property
    def _ring(self):
        return self.moves.rings[self.stage.sums]
