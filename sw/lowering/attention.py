"""Attention: scores and numerators never leave the chip.

A unit of work is a block of rows of one head.  The scores of a unit are summed up while the
context of the unit before it still waits for its numerators, so that softmax runs beside products:

    array:      scores(0) scores(1) context(0) scores(2) context(1) ...
    transforms:           softmax(0)           softmax(1), context(0) ...

Scores stand in one half of the accumulator, contexts in the other.  Where not even a row of scores
fits there, keys are taken block by block, twice: once for the maximum, once for all else.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from celosia.isa.encoding import ElementType, Function
from celosia.sw.ir.graph import DeferredSoftmax, DivideBySums, MatMul, operands
from celosia.sw.ir.program import LocalRows, Space
from celosia.sw.lowering.cuts import even_cuts, tiles
from celosia.sw.lowering.finish import FinishedSums, Finisher, mask_settings
from celosia.sw.lowering.places import Places
from celosia.sw.lowering.products import LocalRowsOfA, MemoryRowsOfA, ProductBlock, multiply
from celosia.sw.lowering.writer import ProgramWriter

__all__ = ["AttentionWriter", "Head"]


@dataclass(frozen=True)
class Head:
    """Two products: numerators of softmax from scores, and the context that they weight."""

    scores: MatMul
    context: MatMul

    @property
    def softmax(self) -> DeferredSoftmax:
        """The finish of the scores."""
        assert isinstance(self.scores.finish, DeferredSoftmax)
        return self.scores.finish

    @property
    def division(self) -> DivideBySums:
        """The finish of the context."""
        assert isinstance(self.context.finish, DivideBySums)
        return self.context.finish

    def reads(self, others: Iterable["Head"]) -> bool:
        """Whether it takes what one of the `others` computes: then it comes after it."""
        views = [*operands(self.scores), *operands(self.context)]
        return any(view.meets(other.context.out) for other in others for view in views)


@dataclass(frozen=True)
class _Unit:
    """A block of rows of one head."""

    head: Head
    row: int
    rows: int
    turn: int
    """0 or 1: whose places it uses."""
    slot: int

    @property
    def keys(self) -> int:
        """How many there are."""
        return self.head.scores.out.cols


class AttentionWriter:
    """Writes heads."""

    def __init__(self, writer: ProgramWriter, places: Places):
        self.writer = writer
        self.places = places
        self.dim = writer.config.dim
        self.finisher = Finisher(writer, places)

    def write(self, heads: Sequence[Head]) -> None:
        """All of `heads`, none of which reads what another one computes."""
        self.writer.agenda.write_all()
        waiting: _Unit | None = None
        for unit in self._units(heads):
            if not (self._fits(unit) and self.places.choices.whole_scores):
                self._finish(waiting)
                waiting = None
                self._write_by_blocks(unit)
                continue
            self._scores(unit, [(0, unit.keys)], (Function.MAXIMUM, Function.EXPONENT))
            self._finish(waiting)
            waiting = unit
            if not self.places.choices.overlap:
                self._finish(waiting)
                waiting = None
        self._finish(waiting)

    def _units(self, heads: Iterable[Head]) -> Iterator[_Unit]:
        number = 0
        for head in heads:
            self.writer.operator = head.context.name
            self._check_width(head)
            most = self._rows_that_fit(head)
            for row, rows in even_cuts(head.scores.out.rows, most):
                turn = number % 2
                slots = self.writer.config.statistics_rows // 2
                yield _Unit(head, row, rows, turn, turn * slots)
                number += 1

    def _check_width(self, head: Head) -> None:
        width, most = head.context.out.cols, self.places.accumulator_half * self.dim
        if width > most:
            raise ValueError(f"a head is {width} wide, more than the {most} that the sums of fit")

    def _rows_that_fit(self, head: Head) -> int:
        """Rows of a unit: as many as a block if scores, numerators and context of them fit."""
        places, dim = self.places, self.dim
        wide = tiles(max(head.scores.out.cols, head.context.out.cols), dim)
        most = min(places.accumulator_half, places.attention.numerator_rows) // wide
        limits = (places.block_rows, self.writer.config.statistics_rows // 2)
        return max(1, min(most, *limits))

    def _fits(self, unit: _Unit) -> bool:
        wide = tiles(unit.keys, self.dim)
        room = min(self.places.accumulator_half, self.places.attention.numerator_rows)
        return unit.rows * wide <= room

    def _finish(self, unit: _Unit | None) -> None:
        """The context of a unit whose numerators are complete."""
        if unit is None:
            return
        c = self._context_rows(unit)
        self._add_context(unit, c, (0, unit.keys), accumulate=False)
        self._store_context(unit, c)

    def _write_by_blocks(self, unit: _Unit) -> None:
        """A unit whose scores do not fit, keys block by block."""
        room = min(self.places.accumulator_half, self.places.attention.numerator_rows)
        most = room // unit.rows * self.dim
        if self._fits(unit):  # Scores of all of them do not stand there by choice.
            most = min(most, self.dim * tiles(tiles(unit.keys, self.dim), 2))
        blocks = list(even_cuts(unit.keys, most, self.dim))
        self._scores(unit, blocks, (Function.MAXIMUM,))
        c = self._context_rows(unit)
        for block in blocks:
            self._scores(unit, [block], (Function.EXPONENT,))
            self._add_context(unit, c, block, accumulate=block[0] > 0)
        self._store_context(unit, c)

    def _scores(
        self, unit: _Unit, blocks: Sequence[tuple[int, int]], functions: Sequence[Function]
    ) -> None:
        """Scores of blocks of keys, and these passes of softmax over each of them."""
        op, places = unit.head.scores, self.places
        self.writer.operator = op.name
        # The context of the last unit of this turn still needs the statistics that begin here.
        self.writer.agenda.write_drains(self._context_rows(unit))
        a = op.a.part(row=unit.row, rows=unit.rows)
        for key, keys in blocks:
            wide = tiles(keys, self.dim)
            c = LocalRows(Space.ACCUMULATOR, 0, unit.rows, wide, unit.rows)
            queries = places.attention.queries[unit.turn]
            block = ProductBlock(
                a=MemoryRowsOfA(self.writer, a, queries),
                w=op.b.part(row=key, rows=keys)
                if op.b_transposed
                else op.b.part(col=key, cols=keys),
                w_transposed=op.b_transposed,
                weights=places.attention.keys,
                c=c,
                piece_tiles=places.piece_tiles,
            )
            multiply(self.writer, block)
            sums = FinishedSums(
                rows=c,
                out=op.out.part(row=unit.row, rows=unit.rows, col=key, cols=keys),
                bias=op.bias and op.bias.part(col=key, cols=keys),
                scale=unit.head.softmax.scale,
            )
            if Function.MAXIMUM in functions:
                self._softmax(unit, Function.MAXIMUM, sums, ())
            if Function.EXPONENT in functions:
                self._exponents(unit, sums)

    def _exponents(self, unit: _Unit, sums: FinishedSums) -> None:
        """Numerators, in two parts: the next scores can follow when the first part is over."""
        numerators = self._numerators(unit, sums.out.cols)
        most = self.dim * tiles(tiles(sums.out.cols, self.dim), 2)
        for col, cols in even_cuts(sums.out.cols, most, self.dim):
            target = numerators.block(col // self.dim, tiles(cols, self.dim))
            part = sums.part(self.dim, col, cols)
            self._softmax(unit, Function.EXPONENT, part, (target,))

    def _softmax(
        self, unit: _Unit, function: Function, sums: FinishedSums, targets: tuple[LocalRows, ...]
    ) -> None:
        """A pass over the scores of some keys."""
        scores = unit.head.scores.out
        key, end = sums.out.col - scores.col, sums.out.col + sums.out.cols - scores.col
        settings = {"statistics": unit.slot, "start": int(key == 0)}
        if function is Function.EXPONENT:
            settings |= {"finish": int(end == unit.keys), "type": ElementType.UINT8}
        mask = mask_settings(unit.head.softmax.mask, unit.row, key)
        self.finisher.write(function, sums, targets, settings, mask=mask)

    def _numerators(self, unit: _Unit, keys: int) -> LocalRows:
        first = self.places.attention.numerators[unit.turn]
        wide = tiles(keys, self.dim)
        return LocalRows(Space.SCRATCHPAD, first, unit.rows, wide, unit.rows)

    def _context_rows(self, unit: _Unit) -> LocalRows:
        """Rows of the other half of the accumulator, in turns if two contexts fit."""
        half, wide = self.places.accumulator_half, tiles(unit.head.context.out.cols, self.dim)
        size = wide * unit.rows
        first = half + (unit.turn * (half // 2) if 2 * size <= half else 0)
        return LocalRows(Space.ACCUMULATOR, first, unit.rows, wide, unit.rows)

    def _add_context(
        self, unit: _Unit, c: LocalRows, block: tuple[int, int], *, accumulate: bool
    ) -> None:
        """The product of numerators and values of a block of keys."""
        key, keys = block
        op = unit.head.context
        self.writer.operator = op.name
        multiply(
            self.writer,
            ProductBlock(
                a=LocalRowsOfA(self._numerators(unit, keys), unsigned=True),
                w=op.b.part(row=key, rows=keys),
                w_transposed=False,
                weights=self.places.attention.values,
                c=c,
                piece_tiles=self.places.piece_tiles,
                accumulate=accumulate,
            ),
        )

    def _store_context(self, unit: _Unit, c: LocalRows) -> None:
        op = unit.head.context
        sums = FinishedSums(
            rows=c,
            out=op.out.part(row=unit.row, rows=unit.rows),
            bias=op.bias,
            scale=unit.head.division.scale,
            slot=unit.slot,
        )
        self.finisher.finish(unit.head.division, sums, self.places.attention.results)
