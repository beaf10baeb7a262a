"""Heads of attention to operations: numerators never leave the chip, and scores seldom.

A *part* is some keys of a block of rows.  The scores of a part are summed up before the context of
the part ahead of it, which still waits for its numerators, so that softmax runs beside products:

    array:      scores(0) scores(1) context(0) scores(2) context(1) ...
    transforms:           softmax(0)           softmax(1), context(0) ...

Where scores wait in memory, those of the next block (') take their place between contexts:

    array:      scores'(1) context(0)  scores'(2) context(1)  ...
    transforms:            maximum'(1), exponents(1)  maximum'(2), exponents(2) ...
    memory:                scores'(1) leave, scores(1) and (2) come back ...
"""

from collections.abc import Generator, Iterator, Mapping
from dataclasses import replace

from celosia.isa.encoding import ElementType, Function
from celosia.sw.ir.graph import MatMul, View
from celosia.sw.ir.program import Drain, Load, LocalRows, Op, Space, Store
from celosia.sw.planning.extents import even_cuts, tiles
from celosia.sw.planning.forms.spills import spill_view
from celosia.sw.planning.forms.stages import AttentionStage
from celosia.sw.scheduling.drains import SumsBlock, drained, mask_settings, transformed
from celosia.sw.scheduling.expansion.head_parts import Block, Part, parts
from celosia.sw.scheduling.moves import Moves
from celosia.sw.scheduling.nests import ProductBlock, RowsInMemory, products

__all__ = ["expand_attention"]


def expand_attention(
    stage: AttentionStage, ops: Mapping[str, MatMul], moves: Moves
) -> Iterator[tuple[str, Op]]:
    """The operations of a legal `stage` of heads of `ops`, each with its operator."""
    expansion = _Expansion(moves, stage.first)
    waiting: list[Part] = []
    slots = moves.rings[stage.slots]
    for part in parts(stage, ops, slots, moves.dim):
        yield from ((part.block.scores.name, op) for op in expansion.scores(part))
        waiting.append(part)
        if len(waiting) > stage.ahead:
            yield from expansion.context(waiting.pop(0))
    for part in waiting:
        yield from expansion.context(part)


class _Expansion:
    def __init__(self, moves: Moves, first: str):
        self.moves, self.dim, self.first = moves, moves.dim, first
        self.contexts: dict[Block, LocalRows] = {}
        """The sums of blocks whose contexts have begun."""

    def scores(self, part: Part) -> Iterator[Op]:
        """The scores of a part, and the passes of softmax over them."""
        sums = yield from self._returned(part) if part.returns else self._summed(part)
        if part.maximum:
            yield from self._pass(part, Function.MAXIMUM, sums)
        if part.spills:
            yield from self._spilled(part, sums)
        if part.exponent:
            ring = _turn(part.block.group.numerators, part)
            wide = tiles(part.keys, self.dim)
            numerators = self.moves.sums(ring, part, part.block.rows, wide)
            how = part.block.softmax
            function = Function.DITHERED_EXPONENT if how.dithered else Function.EXPONENT
            begins = how.begins(self.dim)
            most = max(begins, self.dim * tiles(wide, part.block.group.exponents))
            for col, cols in even_cuts(part.keys, most, begins):
                target = numerators.block(col // self.dim, tiles(cols, self.dim))
                some = sums.part(self.dim, col, cols)
                yield from self._pass(part, function, some, target)

    def _block_of(self, part: Part, rows: LocalRows) -> SumsBlock:
        """The scores of a part in local rows; those of int16 have their bias."""
        block, op = part.block, part.block.scores
        bias = op.bias and op.bias.part(col=part.key, cols=part.keys)
        return SumsBlock(
            rows=rows,
            tile_blocks=2 if part.returns else 1,
            out=op.out.part(row=block.row, rows=block.rows, col=part.key, cols=part.keys),
            bias=None if part.returns else bias,
            scale=block.softmax.scale,
            slot=block.slot,
        )

    def _summed(self, part: Part) -> Generator[Op, None, SumsBlock]:
        """The scores of a part as sums: products."""
        block, group, op = part.block, part.block.group, part.block.scores
        a = op.a.part(row=block.row, rows=block.rows)
        wide = tiles(part.keys, self.dim)
        ring = group.scores if part.turn else self.first or group.scores
        c = self.moves.sums(ring, ("scores", part), block.rows, wide, part.half)
        product = ProductBlock(
            a=RowsInMemory(view=a, ring=_turn(group.queries, part), block=a),
            a_unsigned=self.moves.type(op.a) == "uint8",
            w=op.b.part(col=part.key, cols=part.keys, transposed=op.b_transposed),
            w_transposed=op.b_transposed,
            pieces=group.k,
            c=c,
            accumulate=op.onto is not None,
            diagonal=part.diagonal,
        )
        if op.onto is not None:
            onto = op.onto.part(row=block.row, rows=block.rows, col=part.key, cols=part.keys)
            yield from self.moves.fill(onto, c)
        yield from products(self.moves, product)
        return self._block_of(part, c)

    def _spilled(self, part: Part, sums: SumsBlock) -> Iterator[Op]:
        """The scores of a part to memory, as int16."""
        assert isinstance(sums.scale, float)
        bias = None
        if sums.bias is not None:
            ring = part.block.group.drain.parameters
            bias = yield from self.moves.load_parameters(sums.bias, ring)
        for col, view, rows in self._memory(part, sums):
            row = None if bias is None else bias + col // self.dim
            yield Store(view, rows, Drain(scale=sums.scale, bias_row=row))

    def _returned(self, part: Part) -> Generator[Op, None, SumsBlock]:
        """The scores of a part from memory, where no bias is added any more."""
        block, spill = part.block, part.block.group.spill
        assert spill is not None
        wide = tiles(2 * part.keys, self.dim)
        sums = self._block_of(part, self.moves.sums(spill.ring, ("back", part), block.rows, wide))
        for _, view, rows in self._memory(part, sums):
            yield Load(view, rows)
        return sums

    def _memory(self, part: Part, sums: SumsBlock) -> Iterator[tuple[int, View, LocalRows]]:
        """What a command moves of the scores of a part: first column, place in memory, local rows.

        Of a tile that not all rows see, those that see nothing of it do not move.
        """
        block, dim, diagonal = part.block, self.dim, part.diagonal
        place = spill_view(block.group, block.number, block.rows)
        most = dim if diagonal is not None else max(1, self.moves.machine.max_blocks // 2) * dim
        for col, cols in even_cuts(part.keys, most, dim):
            first, behind = 0, block.rows
            if diagonal is not None:
                first, behind = diagonal.rows(col, block.rows, dim)
            if first == behind:
                continue
            rows, some = behind - first, sums.part(dim, col, cols).rows
            view = place.part(row=first, rows=rows, col=part.key + col, cols=cols)
            yield col, view, replace(some, row=some.row + first, rows=rows)

    def _pass(
        self, part: Part, function: Function, sums: SumsBlock, *targets: LocalRows
    ) -> Iterator[Op]:
        """A pass of softmax over the scores of some keys."""
        block = part.block
        how, scores = block.softmax, block.scores.out
        key, end = sums.out.col - scores.col, sums.out.col + sums.out.cols - scores.col
        settings = {"statistics": block.slot, "start": int(key == block.keys[0])}
        if how.stored and function is not Function.MAXIMUM:
            settings["stored"] = 1
        if targets:
            settings |= {"finish": int(end == block.keys[1]), "type": ElementType.UINT8}
        mask = mask_settings(how.mask, block.row, key)
        drain = block.group.drain
        yield from transformed(self.moves, function, sums, drain, settings, targets, mask=mask)

    def context(self, part: Part) -> Iterator[tuple[str, Op]]:
        """The share of a part in the context of its block, which leaves when it is complete."""
        if part.exponent:
            yield from ((part.block.context.name, op) for op in self._context(part))

    def _context(self, part: Part) -> Iterator[Op]:
        block, group, op = part.block, part.block.group, part.block.context
        if part.begins:
            wide = tiles(op.out.cols, self.dim)
            key = ("context", block)
            self.contexts[block] = self.moves.sums(group.contexts, key, block.rows, wide, part.half)
        c = self.contexts[block]
        ring = _turn(group.numerators, part)
        row = self.moves.rings[ring].find(part)
        assert row is not None, f"{op.name}: the numerators of {part} are gone"
        wide = tiles(part.keys, self.dim)
        product = ProductBlock(
            a=LocalRows(Space.SCRATCHPAD, row, block.rows, wide, block.rows),
            a_unsigned=True,
            w=op.b.part(row=part.key, rows=part.keys),
            w_transposed=False,
            pieces=group.v,
            c=c,
            accumulate=not part.begins,
            diagonal=part.diagonal,
            keys_along=True,
        )
        yield from products(self.moves, product)
        if not part.ends:
            return
        sums = SumsBlock(
            rows=self.contexts.pop(block),
            out=op.out.part(row=block.row, rows=block.rows),
            bias=op.bias,
            scale=block.division.scale,
            slot=block.slot,
        )
        yield from drained(self.moves, block.division, sums, group.drain)


def _turn(rings: tuple[str, ...], part: Part) -> str:
    """The ring whose turn it is."""
    return rings[part.turn % len(rings)]
