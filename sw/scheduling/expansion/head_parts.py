"""What heads of attention are cut into: blocks of rows, and parts of their keys, in order.

A part is passed for the maxima of its rows, for numerators and contexts, or for both at once.
Where scores wait in memory between the two, the first pass over a block comes between the parts of
the second one over the block before: so stores and loads of scores are spread evenly.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from celosia.sw.ir.causal import Diagonal, diagonal_of, keys_seen
from celosia.sw.ir.graph import MatMul
from celosia.sw.planning.extents import in_order
from celosia.sw.planning.forms.groups import Head
from celosia.sw.planning.forms.stages import AttentionStage, HeadGroup
from celosia.sw.scheduling.pieces import Pieces

__all__ = ["Block", "Part", "parts"]


@dataclass(frozen=True)
class Block(Head):
    """A head, and a block of its rows."""

    group: HeadGroup
    row: int
    rows: int
    slot: int
    number: int
    """The number of blocks of its group before it."""

    dim: int

    @property
    def diagonal(self) -> Diagonal | None:
        """Which keys its rows see; None: all rows see all keys."""
        diagonal = diagonal_of(self.softmax.mask)
        return diagonal and diagonal.moved(rows=self.row)

    @property
    def keys(self) -> tuple[int, int]:
        """The keys of the tiles that its rows see, the first and that behind the last.

        All others are left out.
        """
        return keys_seen(self.scores, self.row, self.rows, self.dim)

    @property
    def cuts(self) -> Iterator[tuple[int, int]]:
        """First key and keys of each part."""
        first, behind = self.keys
        for start, count in in_order(self.group.keys):
            key, end = max(first, start), min(behind, start + count)
            if key < end:
                yield key, end - key


@dataclass(frozen=True)
class Part:
    """Some keys of a block, and what is computed of them."""

    block: Block
    key: int
    keys: int
    maximum: bool
    """The maxima of rows are found."""
    exponent: bool
    """Numerators are made, and their share of the context behind them."""
    turn: int = 0
    """The turn among rings: a part that makes numerators has one, and the next part the other."""
    half: int | None = None
    """The half of the accumulator for its sums, scores or contexts; None: whose turn it is."""

    @property
    def diagonal(self) -> Diagonal | None:
        """Which of its keys rows see; None: all rows see all keys."""
        diagonal = self.block.diagonal
        return diagonal and diagonal.moved(keys=self.key)

    @property
    def begins(self) -> bool:
        """It has the first keys of its block."""
        return self.key == self.block.keys[0]

    @property
    def ends(self) -> bool:
        """It has the last keys of its block."""
        return self.key + self.keys == self.block.keys[1]

    @property
    def spills(self) -> bool:
        """Its scores leave for memory."""
        return self.block.group.spill is not None and not self.exponent

    @property
    def returns(self) -> bool:
        """Its scores come from memory."""
        return self.block.group.spill is not None and not self.maximum


def parts(
    stage: AttentionStage, ops: Mapping[str, MatMul], slots: Pieces, dim: int
) -> Iterator[Part]:
    """All parts of a `stage` of heads of `ops` in order; statistics of blocks take `slots`."""
    turn = 0
    for group in stage.groups:
        blocks = _blocks(group, ops, slots, dim)
        ordered = _halved([*_spilled(blocks)], stage.ahead) if group.spill else _passed(blocks)
        for part in ordered:
            yield replace(part, turn=turn)
            turn += part.exponent or group.spill is None


def _blocks(
    group: HeadGroup, ops: Mapping[str, MatMul], slots: Pieces, dim: int
) -> Iterator[Block]:
    number = 0
    for scores, context in group.heads:
        for row, rows in in_order(group.rows):
            slot = slots.take((scores, row), rows)
            yield Block(ops[scores], ops[context], group, row, rows, slot, number, dim)
            number += 1


def _pass(block: Block, *, maximum: bool, exponent: bool) -> list[Part]:
    return [Part(block, key, count, maximum, exponent) for key, count in block.cuts]


def _passed(blocks: Iterable[Block]) -> Iterator[Part]:
    """Block by block: those whose keys are more than one part twice."""
    for block in blocks:
        at_once = _pass(block, maximum=True, exponent=True)
        if len(at_once) == 1:
            yield from at_once
            continue
        yield from _pass(block, maximum=True, exponent=False)
        yield from _pass(block, maximum=False, exponent=True)


def _spilled(blocks: Iterable[Block]) -> Iterator[Part]:
    """The first pass over each block between the second one over the block before it."""
    waiting: list[Part] = []
    for block in blocks:
        yield from _merged(_pass(block, maximum=True, exponent=False), waiting)
        waiting = _pass(block, maximum=False, exponent=True)
    yield from waiting


def _merged(ones: list[Part], others: list[Part]) -> Iterator[Part]:
    """Both in order, evenly: the first of `ones` comes before that of `others`."""
    done = 0
    for number, one in enumerate(ones, 1):
        yield one
        upto = -(-number * len(others) // len(ones))
        yield from others[done:upto]
        done = upto


def _halved(ordered: list[Part], ahead: int) -> list[Part]:
    """The same parts, the sums of each in the other half than those that the array adds to next.

    So they leave meanwhile: a bank of sums that are added to is read by nobody else.  Contexts of
    a block stay where they are until they are complete, `ahead` parts behind.
    """
    halved, after = [*ordered], 0
    contexts: dict[int, int] = {}
    """The half of each block's."""
    for place in reversed([*_in_array(ordered, ahead)]):
        part = ordered[place]
        after = 1 - after if part.maximum else contexts.setdefault(part.block.number, 1 - after)
        halved[place] = replace(part, half=after)
    return halved


def _in_array(ordered: list[Part], ahead: int) -> Iterator[int]:
    """The places of parts in the order of the products of their scores, or else contexts."""
    for turn in range(len(ordered) + ahead):
        if turn < len(ordered) and ordered[turn].maximum:
            yield turn
        if turn >= ahead and ordered[turn - ahead].exponent:
            yield turn - ahead
