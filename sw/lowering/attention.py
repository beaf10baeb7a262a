"""Attention: scores and numerators never leave the chip.

A part of the work is a block of rows of one head, with all of its keys or a block of them.  The
scores of a part are summed up while the context of the part before it still waits for its
numerators, so that softmax runs beside products:

    array:      scores(0) scores(1) context(0) scores(2) context(1) ...
    transforms:           softmax(0)           softmax(1), context(0) ...

Scores stand in one half of the accumulator, contexts in the other.  Where too few rows of scores of
all keys fit there, keys are taken block by block, twice: first for the maxima of the rows, then for
all else (`celosia.sw.lowering.head_places` decides).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from celosia.isa.encoding import ElementType, Function
from celosia.sw.ir.graph import DeferredSoftmax, DivideBySums, MatMul, View, operands
from celosia.sw.ir.program import LocalRows, Space
from celosia.sw.lowering.cuts import even_cuts, tiles
from celosia.sw.lowering.finish import FinishedSums, Finisher, mask_settings
from celosia.sw.lowering.head_places import HeadPlaces, HeadShape, head_places
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

    @property
    def shape(self) -> HeadShape:
        """The extents of the head."""
        scores = self.scores
        return HeadShape(
            rows=scores.out.rows,
            keys=scores.out.cols,
            depth=scores.a.cols,
            width=self.context.out.cols,
        )

    def reads(self, others: Iterable["Head"]) -> bool:
        """Whether it takes what one of the `others` computes: then it comes after it."""
        views = [*operands(self.scores), *operands(self.context)]
        return any(view.meets(other.context.out) for other in others for view in views)


@dataclass(frozen=True)
class _Block:
    """A block of rows of one head."""

    head: Head
    places: HeadPlaces
    row: int
    rows: int
    turn: int
    """0 or 1: whose context and statistics it uses."""
    slot: int

    @property
    def slots(self) -> range:
        """The slots of statistics of the block's rows."""
        return range(self.slot, self.slot + self.rows)

    @property
    def scores(self) -> View:
        """Its rows of the scores."""
        return self.head.scores.out.part(row=self.row, rows=self.rows)

    @property
    def keys(self) -> int:
        """The number of keys of the head."""
        return self.head.scores.out.cols


@dataclass(frozen=True)
class _Part:
    """Some keys of a block, and what is computed of them."""

    block: _Block
    key: int
    keys: int
    turn: int
    """0 or 1: whose scores, queries and numerators it uses."""
    functions: tuple[Function, ...]
    """Passes of softmax: MAXIMUM, and EXPONENT, behind which comes its share of the context."""

    @property
    def is_last(self) -> bool:
        """Whether the context of the block is complete then."""
        return self.key + self.keys == self.block.keys


class AttentionWriter:
    """A writer of the heads of attention, with what is deferred between them."""

    def __init__(self, writer: ProgramWriter, places: Places):
        self.writer = writer
        self.places = places
        self.dim = writer.config.dim
        self.finisher = Finisher(writer, places)

    def write(self, heads: Sequence[Head]) -> None:
        """All of `heads`, none of which reads what another one computes."""
        self.writer.agenda.write_all()
        waiting: _Part | None = None
        for part in self._parts(heads):
            self._scores(part)
            self._finish(waiting)
            waiting = part
            choices = self.places.choices
            if not (choices.overlap or choices.schedule_loads):
                self._finish(waiting)
                waiting = None
        self._finish(waiting)

    def _parts(self, heads: Iterable[Head]) -> Iterator[_Part]:
        both = Function.MAXIMUM, Function.EXPONENT
        turn = 0
        for block in self._blocks(heads):
            parts = list(even_cuts(block.keys, block.places.block_keys, self.dim))
            passes = [both] if len(parts) == 1 else [(each,) for each in both]
            for functions in passes:
                for key, keys in parts:
                    yield _Part(block, key, keys, turn, functions)
                    turn ^= 1

    def _blocks(self, heads: Iterable[Head]) -> Iterator[_Block]:
        slots = self.writer.config.statistics_rows // 2
        places: dict[HeadShape, HeadPlaces] = {}
        turn = 0
        for head in heads:
            self.writer.operator = head.context.name
            shape = head.shape
            if shape not in places:
                places[shape] = head_places(self.places, shape)
            for row, rows in even_cuts(shape.rows, places[shape].block_rows):
                yield _Block(head, places[shape], row, rows, turn, turn * slots)
                turn ^= 1

    def _scores(self, part: _Part) -> None:
        """Scores of some keys, and passes of softmax over them."""
        block, op = part.block, part.block.head.scores
        self.writer.operator = op.name
        # Contexts of the last block of this turn still need the statistics that begin here: also
        # those behind the sums of this block, if it has fewer rows or columns.
        self.writer.agenda.write_statistics(block.slots)
        wide = tiles(part.keys, self.dim)
        first = block.places.scores[part.turn]
        c = LocalRows(Space.ACCUMULATOR, first, block.rows, wide, block.rows)
        a = op.a.part(row=block.row, rows=block.rows)
        product = ProductBlock(
            a=MemoryRowsOfA(self.writer, a, block.places.queries[part.turn]),
            w=op.b.part(row=part.key, rows=part.keys)
            if op.b_transposed
            else op.b.part(col=part.key, cols=part.keys),
            w_transposed=op.b_transposed,
            weights=block.places.keys,
            c=c,
            piece_tiles=self.places.piece_tiles,
        )
        multiply(self.writer, product)
        sums = FinishedSums(
            rows=c,
            out=op.out.part(row=block.row, rows=block.rows, col=part.key, cols=part.keys),
            bias=op.bias and op.bias.part(col=part.key, cols=part.keys),
            scale=block.head.softmax.scale,
        )
        if Function.MAXIMUM in part.functions:
            self._softmax(block, Function.MAXIMUM, sums, ())
        if Function.EXPONENT in part.functions:
            self._exponents(part, sums)

    def _exponents(self, part: _Part, sums: FinishedSums) -> None:
        """Numerators, in two parts: the next scores can follow when the first part is over."""
        numerators = self._numerators(part)
        most = self.dim * tiles(tiles(part.keys, self.dim), 2)
        for col, cols in even_cuts(part.keys, most, self.dim):
            target = numerators.block(col // self.dim, tiles(cols, self.dim))
            self._softmax(part.block, Function.EXPONENT, sums.part(self.dim, col, cols), (target,))

    def _softmax(
        self, block: _Block, function: Function, sums: FinishedSums, targets: tuple[LocalRows, ...]
    ) -> None:
        """A pass over the scores of some keys."""
        scores = block.head.scores.out
        key, end = sums.out.col - scores.col, sums.out.col + sums.out.cols - scores.col
        settings = {"statistics": block.slot, "start": int(key == 0)}
        if function is Function.EXPONENT:
            settings |= {"finish": int(end == block.keys), "type": ElementType.UINT8}
        mask = mask_settings(block.head.softmax.mask, block.row, key)
        self.finisher.write(function, sums, targets, settings, mask=mask)

    def _finish(self, part: _Part | None) -> None:
        """The context of a part whose numerators are complete: the product with its values."""
        if part is None or Function.EXPONENT not in part.functions:
            return
        block, op = part.block, part.block.head.context
        self.writer.operator = op.name
        c = self._context_rows(block)
        multiply(
            self.writer,
            ProductBlock(
                a=LocalRowsOfA(self._numerators(part), unsigned=True),
                w=op.b.part(row=part.key, rows=part.keys),
                w_transposed=False,
                weights=block.places.values,
                c=c,
                piece_tiles=self.places.piece_tiles,
                accumulate=part.key > 0,
            ),
        )
        if part.is_last:
            self._store_context(block, c)

    def _numerators(self, part: _Part) -> LocalRows:
        first = part.block.places.numerators[part.turn]
        rows = part.block.rows
        return LocalRows(Space.SCRATCHPAD, first, rows, tiles(part.keys, self.dim), rows)

    def _context_rows(self, block: _Block) -> LocalRows:
        first = block.places.contexts[block.turn]
        wide = tiles(block.head.context.out.cols, self.dim)
        return LocalRows(Space.ACCUMULATOR, first, block.rows, wide, block.rows)

    def _store_context(self, block: _Block, c: LocalRows) -> None:
        op = block.head.context
        sums = FinishedSums(
            rows=c,
            out=op.out.part(row=block.row, rows=block.rows),
            bias=op.bias,
            scale=block.head.division.scale,
            slot=block.slot,
            counted=block.scores,
        )
        self.finisher.finish(block.head.division, sums, block.places.results)
