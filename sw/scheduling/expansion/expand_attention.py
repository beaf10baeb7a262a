"""Heads of attention to operations: scores and numerators never leave the chip.

A *part* is some keys of a block of rows.  The scores of a part are summed up before the context of
the part ahead of it, which still waits for its numerators, so that softmax runs beside products:

    array:      scores(0) scores(1) context(0) scores(2) context(1) ...
    transforms:           softmax(0)           softmax(1), context(0) ...
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate

from celosia.isa.encoding import ElementType, Function
from celosia.sw.ir.causal import keys_seen, leaves_out
from celosia.sw.ir.graph import DeferredSoftmax, DivideBySums, MatMul
from celosia.sw.ir.program import LocalRows, Op
from celosia.sw.planning.extents import even_cuts, tiles
from celosia.sw.planning.forms.stages import AttentionStage, HeadGroup
from celosia.sw.scheduling.drains import SumsBlock, drained, mask_settings, transformed
from celosia.sw.scheduling.moves import Moves
from celosia.sw.scheduling.nests import ProductBlock, RowsInMemory, products

__all__ = ["expand_attention"]


@dataclass(frozen=True)
class _Block:
    """A block of rows of a head."""

    group: HeadGroup
    scores: MatMul
    context: MatMul
    row: int
    rows: int
    slot: int

    dim: int

    @property
    def diagonal(self) -> int | None:
        """The last key that the block's first row sees; None: all rows see all keys."""
        how = self.scores.finish
        assert isinstance(how, DeferredSoftmax)
        return how.mask.first_row + self.row if leaves_out(how.mask) else None

    @property
    def keys(self) -> int:
        """The number of keys of the tiles that its rows see: all others are left out."""
        return keys_seen(self.scores, self.row, self.rows, self.dim)

    @property
    def cuts(self) -> Iterator[tuple[int, int]]:
        """First key and keys of each part."""
        keys = self.group.keys
        for end, count in zip(accumulate(keys), keys, strict=True):
            key = end - count
            if key < self.keys:
                yield key, min(end, self.keys) - key


@dataclass(frozen=True)
class _Part:
    """Some keys of a block, and what is computed of them."""

    block: _Block
    key: int
    keys: int
    turn: int
    """The number of parts before it."""
    maximum: bool
    """The maxima of rows are found."""
    exponent: bool
    """Numerators are made, and their share of the context behind them."""

    @property
    def diagonal(self) -> int | None:
        """The last of its keys that the block's first row sees; None: all rows see all keys."""
        last = self.block.diagonal
        return None if last is None else last - self.key


def expand_attention(
    stage: AttentionStage, ops: Mapping[str, MatMul], moves: Moves
) -> Iterator[tuple[str, Op]]:
    """The operations of a legal `stage` of heads of `ops`, each with its operator."""
    expansion = _Expansion(stage, ops, moves)
    waiting: list[_Part] = []
    for part in expansion.parts():
        yield from ((part.block.scores.name, op) for op in expansion.scores(part))
        waiting.append(part)
        if len(waiting) > stage.ahead:
            yield from expansion.context(waiting.pop(0))
    for part in waiting:
        yield from expansion.context(part)


class _Expansion:
    def __init__(self, stage: AttentionStage, ops: Mapping[str, MatMul], moves: Moves):
        self.stage, self.ops, self.moves = stage, ops, moves
        self.dim = moves.dim
        self.contexts: dict[_Block, LocalRows] = {}
        """The sums of blocks whose contexts have begun."""

    def parts(self) -> Iterator[_Part]:
        """All parts in order: those of a block twice, if its keys are more than one."""
        turn = 0
        for block in self._blocks():
            cuts = list(block.cuts)
            both = (True, True)
            for maximum, exponent in [both] if len(cuts) == 1 else [(True, False), (False, True)]:
                for key, count in cuts:
                    yield _Part(block, key, count, turn, maximum, exponent)
                    turn += 1

    def _blocks(self) -> Iterator[_Block]:
        slots = self.moves.rings[self.stage.slots]
        for group in self.stage.groups:
            for scores, context in group.heads:
                for end, rows in zip(accumulate(group.rows), group.rows, strict=True):
                    slot = slots.take((scores, end), rows)
                    ops = self.ops[scores], self.ops[context]
                    yield _Block(group, *ops, end - rows, rows, slot, self.dim)

    def scores(self, part: _Part) -> Iterator[Op]:
        """The scores of a part, and the passes of softmax over them."""
        block, group, op = part.block, part.block.group, part.block.scores
        a = op.a.part(row=block.row, rows=block.rows)
        out = op.out.part(row=block.row, rows=block.rows, col=part.key, cols=part.keys)
        wide = tiles(part.keys, self.dim)
        ring = group.scores if part.turn else self.stage.first or group.scores
        c = self._take(ring, ("scores", part), block.rows, wide)
        product = ProductBlock(
            a=RowsInMemory(view=a, ring=_turn(group.queries, part), block=a),
            a_unsigned=self.moves.type(op.a) == "uint8",
            w=op.b.part(row=part.key, rows=part.keys)
            if op.b_transposed
            else op.b.part(col=part.key, cols=part.keys),
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
        assert isinstance(op.finish, DeferredSoftmax)
        bias = op.bias and op.bias.part(col=part.key, cols=part.keys)
        sums = SumsBlock(rows=c, out=out, bias=bias, scale=op.finish.scale, slot=block.slot)
        if part.maximum:
            yield from self._pass(part, Function.MAXIMUM, sums)
        if part.exponent:
            numerators = self._take(_turn(group.numerators, part), part, block.rows, wide)
            most = self.dim * tiles(wide, group.exponents)
            for col, cols in even_cuts(part.keys, most, self.dim):
                target = numerators.block(col // self.dim, tiles(cols, self.dim))
                some = sums.part(self.dim, col, cols)
                yield from self._pass(part, Function.EXPONENT, some, target)

    def _pass(
        self, part: _Part, function: Function, sums: SumsBlock, *targets: LocalRows
    ) -> Iterator[Op]:
        """A pass of softmax over the scores of some keys."""
        block = part.block
        how, scores = block.scores.finish, block.scores.out
        assert isinstance(how, DeferredSoftmax)
        key, end = sums.out.col - scores.col, sums.out.col + sums.out.cols - scores.col
        settings = {"statistics": block.slot, "start": int(key == 0)}
        if function is Function.EXPONENT:
            settings |= {"finish": int(end == block.keys), "type": ElementType.UINT8}
        mask = mask_settings(how.mask, block.row, key)
        drain = block.group.drain
        yield from transformed(self.moves, function, sums, drain, settings, targets, mask=mask)

    def context(self, part: _Part) -> Iterator[tuple[str, Op]]:
        """The share of a part in the context of its block, which leaves when it is complete."""
        if part.exponent:
            yield from ((part.block.context.name, op) for op in self._context(part))

    def _context(self, part: _Part) -> Iterator[Op]:
        block, group, op = part.block, part.block.group, part.block.context
        if part.key == 0:
            wide = tiles(op.out.cols, self.dim)
            key = ("context", block)
            self.contexts[block] = self._take(group.contexts, key, block.rows, wide)
        c = self.contexts[block]
        ring = _turn(group.numerators, part)
        row = self.moves.rings[ring].find(part)
        assert row is not None, f"{op.name}: the numerators of {part} are gone"
        wide = tiles(part.keys, self.dim)
        product = ProductBlock(
            a=LocalRows(self.moves.rings[ring].space, row, block.rows, wide, block.rows),
            a_unsigned=True,
            w=op.b.part(row=part.key, rows=part.keys),
            w_transposed=False,
            pieces=group.v,
            c=c,
            accumulate=part.key > 0,
            diagonal=part.diagonal,
            keys_along=True,
        )
        yield from products(self.moves, product)
        if part.key + part.keys < block.keys:
            return
        assert isinstance(op.finish, DivideBySums)
        sums = SumsBlock(
            rows=self.contexts.pop(block),
            out=op.out.part(row=block.row, rows=block.rows),
            bias=op.bias,
            scale=op.finish.scale,
            slot=block.slot,
        )
        yield from drained(self.moves, op.finish, sums, group.drain)

    def _take(self, ring: str, key: object, rows: int, blocks: int) -> LocalRows:
        pieces = self.moves.rings[ring]
        return LocalRows(pieces.space, pieces.take(key, rows * blocks), rows, blocks, rows)


def _turn(rings: tuple[str, ...], part: _Part) -> str:
    """The ring whose turn it is."""
    return rings[part.turn % len(rings)]
