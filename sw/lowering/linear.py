"""Products and int32 from memory, block by block of rows, with what happens to their sums.

Blocks of rows are outermost: so the next operator, which begins with the first rows, finds them in
memory long before the last ones are ready.  While one block of columns is summed up in one half of
the accumulator, the one before is finished from the other.
"""

from dataclasses import replace
from typing import Final

from celosia.isa.encoding import Function
from celosia.sw.ir.graph import (
    AddResidual,
    LayerNorm,
    MatMul,
    Scale,
    Softmax,
    Transform,
    View,
)
from celosia.sw.ir.program import LocalRows, Space
from celosia.sw.lowering.cuts import even_cuts, tiles
from celosia.sw.lowering.finish import TYPES, FinishedSums, Finisher, mask_settings, norm_settings
from celosia.sw.lowering.norm import Normalizer, NormBlock
from celosia.sw.lowering.places import Places
from celosia.sw.lowering.products import MemoryRowsOfA, ProductBlock, multiply
from celosia.sw.lowering.writer import ProgramWriter

__all__ = ["LinearWriter"]

_SOFTMAX_PASSES: Final = (Function.MAXIMUM, Function.SUM, Function.PROBABILITY)


class LinearWriter:
    """Writes operators whose sums are finished in the accumulator."""

    def __init__(self, writer: ProgramWriter, places: Places):
        self.writer = writer
        self.places = places
        self.dim = writer.config.dim
        self.finisher = Finisher(writer, places)
        self.normalizer = Normalizer(writer, places)

    def write(
        self, op: MatMul | Transform, norm: LayerNorm | None = None, *, last: bool = False
    ) -> None:
        """All of `op`; with `norm`, the normalization of its results, too.

        Nothing comes behind the `last` one.
        """
        if isinstance(op.finish, Softmax):
            self._write_softmax(op, op.finish)
            return
        most = self.places.block_rows if norm is None else self.normalizer.block_rows(norm)
        for row, rows in even_cuts(op.out.rows, most):
            sums = self._described(op, row, rows)
            if norm is None:
                for col, cols in self._columns(op, rows):
                    self.finisher.finish(op.finish, self._summed(op, sums, (col, cols)))
            else:
                ends = last and row + rows == op.out.rows
                exposed = ends or rows == op.out.rows
                self._write_normalized(op, norm, sums, row, exposed=exposed, ends=ends)

    def fuses(self, op: MatMul | Transform, norm: LayerNorm) -> bool:
        """Whether moments for `norm` are counted while its source is computed."""
        fused = self.places.choices.fused_norms
        return fused and isinstance(op.finish, AddResidual) and norm.source == op.out

    def _described(self, op: MatMul | Transform, row: int, rows: int) -> FinishedSums:
        """The sums of whole rows, wherever they will be."""
        scale: Scale = getattr(op.finish, "scale", 1.0)
        residual = None
        if isinstance(op.finish, AddResidual):
            residual = op.finish.residual.part(row=row, rows=rows)
        return FinishedSums(
            rows=LocalRows(Space.ACCUMULATOR, 0, rows, tiles(op.out.cols, self.dim), rows),
            out=op.out.part(row=row, rows=rows),
            bias=op.bias,
            scale=scale,
            residual=residual,
        )

    def _write_normalized(
        self,
        op: MatMul | Transform,
        norm: LayerNorm,
        sums: FinishedSums,
        row: int,
        *,
        exposed: bool,
        ends: bool,
    ) -> None:
        """A block of rows, then their normalization between the products of what follows.

        Where there is nothing to hide it under, the last columns are done in parts of fewer rows,
        so that the normalization of only the last of these is exposed.
        """
        rows, settings = sums.out.rows, norm_settings(norm)
        slot = self.places.next_slots()
        *before, last = self._columns(op, rows)
        for columns in before:
            part = self._summed(op, replace(sums, slot=slot), columns)
            self.finisher.finish(op.finish, part, norm=settings)
        for first, count in even_cuts(rows, 2 * self.dim if exposed else rows, self.dim):
            some = replace(sums.rows_part(first, count), slot=slot + first)
            begin = self.writer.clock
            part = self._summed(op, some, last, sums)
            self.finisher.finish(op.finish, part, norm=settings)
            ended = ends and first + count == rows
            some_rows = NormBlock(norm, row + first, count, slot + first)
            cycles = self.writer.clock - begin
            self.normalizer.defer(some_rows, cycles=cycles, exposed=exposed, last=ended)

    def _columns(self, op: MatMul | Transform, rows: int) -> list[tuple[int, int]]:
        """First column and columns of the sums of `rows` rows that half the accumulator holds."""
        most = self.places.accumulator_half // rows
        multiple = self.dim * min(most, self.writer.config.max_blocks)
        return list(even_cuts(op.out.cols, most * self.dim, multiple))

    def _summed(
        self,
        op: MatMul | Transform,
        sums: FinishedSums,
        columns: tuple[int, int],
        block: FinishedSums | None = None,
    ) -> FinishedSums:
        """Some columns of `sums` in the accumulator: halves by turns.

        They may be rows of a larger `block`, whose operands may still be there.
        """
        (col, cols), row, rows = columns, sums.out.row - op.out.row, sums.out.rows
        writer, places = self.writer, self.places
        part = sums.part(self.dim, col, cols)
        if isinstance(op, Transform):
            source = op.source.part(row=row, rows=rows, col=col, cols=cols)
            return replace(part, rows=writer.load(source, places.halves))
        blocks = tiles(cols, self.dim)
        c = LocalRows(Space.ACCUMULATOR, places.halves.take(blocks * rows), rows, blocks, rows)
        a = op.a.part(row=row, rows=rows)
        whole = block or sums
        together = op.a.part(row=whole.out.row - op.out.row, rows=whole.out.rows)
        product = ProductBlock(
            a=MemoryRowsOfA(writer, a, places.activations, together),
            w=op.b.part(row=col, rows=cols) if op.b_transposed else op.b.part(col=col, cols=cols),
            w_transposed=op.b_transposed,
            weights=places.weights,
            c=c,
            piece_tiles=places.piece_tiles,
        )
        multiply(writer, product)
        return replace(part, rows=c)

    def _write_softmax(self, op: MatMul | Transform, how: Softmax) -> None:
        """Softmax by three passes; over scores that are in the accumulator, if all of a row fit."""
        self.writer.agenda.write_all()
        blocks, half = tiles(op.out.cols, self.dim), self.places.accumulator_half
        most = min(
            self.places.block_rows,
            max(1, half // blocks),
            self.writer.config.statistics_rows // 2,
        )
        for row, rows in even_cuts(op.out.rows, most):
            sums = replace(self._described(op, row, rows), slot=self.places.next_slots())
            columns = [(0, op.out.cols)] if rows * blocks <= half else self._columns(op, rows)
            whole = [self._summed(op, sums, columns[0])] if len(columns) == 1 else None
            for function in _SOFTMAX_PASSES:
                for part in whole or (self._summed(op, sums, some) for some in columns):
                    self._softmax_pass(how, function, part, op.out, row)

    def _softmax_pass(
        self, how: Softmax, function: Function, sums: FinishedSums, out: View, row: int
    ) -> None:
        settings = {"statistics": sums.slot}
        ring = self.places.results(self.writer.element_bytes(out))
        if function is not Function.PROBABILITY:
            parts = [sums] if sums.bias is None else self.finisher.chunks(sums, ring)
            for part in parts:
                ends = {"start": int(part.first), "finish": int(part.last)}
                self._pass(how, function, part, settings | ends, out, row, ())
            return
        settings["type"] = TYPES[self.writer.tensors[out.tensor].type]
        for part in self.finisher.chunks(sums, ring):
            target = self.finisher.target(part.out, ring)
            self._pass(how, function, part, settings, out, row, (target,))
            self.writer.store(part.out, target)

    def _pass(
        self,
        how: Softmax,
        function: Function,
        sums: FinishedSums,
        settings: dict[str, int],
        out: View,
        row: int,
        targets: tuple[LocalRows, ...],
    ) -> None:
        mask = mask_settings(how.mask, row, sums.out.col - out.col)
        self.finisher.write(function, sums, targets, settings, mask=mask)
