"""How heads of attention are cut into blocks of rows and parts of keys.

Scores of all keys stand in half of the accumulator at once if enough rows of them do to stream
through the tiles of weights, each of which takes as long as `dim` rows to move in.  Else keys are
taken block by block, twice: once for the maximum, once for all else.  Between the two, scores wait
in memory, and the first pass over one block comes between the second one over the block before.
Where there is no other block, memory sets the pace already (few rows), or scores do not fit into
int16, they are computed once again: half as many products more.  What fits is compared by a few
sums: no plan of a whole graph is made to choose the cuts of one stage.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from celosia.isa.latencies import LOCAL_READ_LATENCY, lane_latency
from celosia.sw.ir.causal import keys_seen, leaves_out
from celosia.sw.ir.graph import Graph, View
from celosia.sw.planning.extents import even_sizes, tiles
from celosia.sw.planning.forms.groups import Head
from celosia.sw.planning.memory_map import MemoryMap
from celosia.sw.planning.rules.common import SHARES

__all__ = ["HeadCuts", "HeadShape", "head_shape"]

_SCALINGS: Final = 2
"""Turns of the scaler that a step of softmax takes, at most."""
_INT16_BYTES: Final = 2
_BUSY: Final = 0.75
"""The share of a part's products that its softmax takes, from which on sums of one half are in each
other's way."""
_LEAST_TILES: Final = 2
"""Blocks of so many tiles of rows are made alike: what repeats in a program becomes a loop."""
_LEAST_SHARE: Final = 0.75
"""Rows of a block, in tiles, from which on halves by turns gain more than is lost where rows stream
for a shorter time than weights move in."""
_RETURNED: Final = 2
"""The scores of so many parts fit into the ring that they come back to."""


@dataclass(frozen=True, kw_only=True)
class HeadShape:
    """What cuts and places of a head depend on."""

    rows: int
    """The number of queries."""
    keys: int
    depth: int
    """Columns of queries and keys."""
    width: int
    """The number of columns of values."""
    parameters: bool
    """Something is added to scores or contexts, or each column has a scale of its own."""
    onto: bool
    """Scores begin with something: it arrives while those of the part before leave."""
    type: str
    """The type of the context."""
    causal: bool
    """A query does not see later keys, whose tiles are left out."""
    first_row: int
    """The position of the first query, if that matters."""
    transposed: bool
    """Keys stand in memory as rows."""
    stored: bool
    """Scores may wait in memory."""
    begins: int
    """The multiple of keys at which parts may begin."""


def head_shape(head: Head, graph: Graph, dim: int) -> HeadShape:
    """The shape of a `head` of `graph`, in tiles of `dim` columns."""
    scores, context = head.scores, head.context
    return HeadShape(
        rows=scores.out.rows,
        keys=scores.out.cols,
        depth=scores.a.cols,
        width=context.out.cols,
        parameters=bool(scores.bias or context.bias) or isinstance(head.division.scale, View),
        onto=scores.onto is not None,
        type=graph.tensors[context.out.tensor].type,
        causal=leaves_out(head.softmax.mask),
        first_row=head.softmax.mask.first_row,
        transposed=scores.b_transposed,
        stored=head.softmax.stored,
        begins=head.softmax.begins(dim),
    )


class HeadCuts:
    """The blocks of rows and parts of keys of heads of one shape, and what they have room for."""

    rows: tuple[int, ...]
    keys: tuple[int, ...]
    scores: int
    """Rows of the accumulator that the scores of a part take, at most."""
    spans: dict[str, tuple[int, int]]
    """First row and rows of the scratchpad, by what stands there."""

    def __init__(self, heads: tuple[Head, ...], shape: HeadShape, memory: MemoryMap):
        self.heads, self.shape, self.memory = heads, shape, memory
        self.dim, self.half = memory.config.dim, memory.accumulator_half
        self.width = tiles(shape.width, self.dim)
        self.slots = memory.slots
        """Rows of a block whose statistics have room."""
        self.alternates = False
        """Blocks have halves of the accumulator by turns."""
        self.may_spill = True
        """All heads of the stage may have scores that wait in memory: if not, none has."""
        self.spilled = self.spills and self._cut()[1] < shape.keys
        """Scores wait in memory."""

    def cut(self, slots: int) -> None:
        """Cut rows and keys, where so many rows of a block have statistics.

        Blocks are of one row if not even that has room for its context, which rules refuse.
        """
        shape, memory = self.shape, self.memory
        self.slots = slots
        most, block_keys = self._cut()
        self.rows = even_sizes(shape.rows, most)
        self.keys = even_sizes(shape.keys, block_keys, shape.begins)
        if shape.causal and len(self.keys) == 1:
            self.rows = tuple(self._causal_rows(most))
        self.scores = self.heads[0].most_scores(self.rows, self.keys, self.dim)
        self.spans = memory.head_spans(max(memory.bank_rows // 2, self.scores))
        if self.spilled:
            first, free = self.spans["keys"]
            self.spans["scores back"] = first + free // 2, free // 2

    def alternate(self, scores: int) -> None:
        """Have the scores and contexts of blocks in halves of the accumulator by turns.

        So many rows of each half are for scores.

        A transform reads the sums of one half while the array adds to those of the other: neither
        waits for the other, where scores of all keys in one half would have both wait.
        """
        self.rows, self.scores = self._blocks_by_turns, scores
        self.alternates = True

    @property
    def sums_by_turns(self) -> tuple[int, int]:
        """Rows of the accumulator for the scores and for the context of a block, by turns."""
        blocks = self._blocks_by_turns
        scores = self.heads[0].most_scores(blocks, self.keys, self.dim)
        return scores, max(blocks) * self.width

    @property
    def _blocks_by_turns(self) -> tuple[int, ...]:
        return even_sizes(self.shape.rows, self._rows_by_turns)

    @property
    def may_alternate(self) -> bool:
        """Whether the halves can take turns, and the lanes have nearly as much to do as the array.

        Fewer rows of a block: so nothing is gained where products take much longer.
        """
        softmax, products = self._softmax_and_products
        return (
            self.at_once
            and not self.shape.causal
            and softmax > _BUSY * products
            and self._rows_by_turns > 0
        )

    @property
    def _rows_by_turns(self) -> int:
        """Rows of blocks, alike if they can be, of which half the accumulator holds all sums.

        0: they would be too few.
        """
        blocks, keys = tiles(self.shape.rows, self.dim), tiles(self.shape.keys, self.dim)
        rows = min(max(self.rows), self.half // (keys + self.width))
        if rows < _LEAST_SHARE * self.dim:
            return 0
        most = rows // self.dim
        if most < _LEAST_TILES:
            return rows
        alike = (count for count in range(most, _LEAST_TILES - 1, -1) if blocks % count == 0)
        return self.dim * next(alike, most)

    @property
    def parts_of_softmax(self) -> int:
        """Parts whose products take as long as the softmax of one."""
        return tiles(*self._softmax_and_products)

    @property
    def _softmax_and_products(self) -> tuple[int, int]:
        """Cycles of the lanes, and those of the array, for a part."""
        config, dim, rows = self.memory.config, self.dim, max(self.rows)
        keys, depth = tiles(max(self.keys), dim), tiles(self.shape.depth, dim)
        products = max(rows, dim) * keys * (depth + self.width)
        latency = 2 * (dim + LOCAL_READ_LATENCY + lane_latency(_SCALINGS, config.row_parts))
        return rows * keys * (1 + config.row_parts) + latency, products

    @property
    def at_once(self) -> bool:
        """Scores of all keys are made at once, and begin with nothing from memory."""
        return len(self.keys) == 1 and not self.shape.onto

    @property
    def most_ahead(self) -> int:
        """Parts whose scores, numerators and statistics there is room for beside another one's."""
        if not self.at_once:
            return 1
        turns = self.half // self.scores
        numerators = 2 * (self.spans["numerators even"][1] // self.scores)
        slots = self.memory.config.statistics_rows // max(self.rows) - 1
        return min(turns, numerators, slots) - 1

    def _cut(self) -> tuple[int, int]:
        """Rows of a block, and keys of a part."""
        shape, memory, dim, half = self.shape, self.memory, self.dim, self.half
        bank, keys = memory.bank_rows, tiles(shape.keys, dim)
        most = min(memory.block_rows, self.slots, max(1, half // self.width))
        # All numerators in half a bank, or beside just the queries that are used together.
        queries = min(tiles(shape.depth, dim), SHARES * memory.piece_tiles)
        rows = min(most, self._at_once // keys, max(bank // 2 // keys, bank // (keys + queries)))
        rows = min(rows, memory.numerator_rows // keys)
        if memory.choices.whole_scores and (rows >= shape.rows or self._are_enough(rows)):
            return rows, shape.keys
        rows = min(most, shape.rows, max(1, half // 4))
        fit = min(half // 2, bank // 2)
        if self.spills:
            rows = min(rows, half // 2 // self.width, memory.slots // 2)
            fit = min(fit, bank // 2 // _INT16_BYTES // _RETURNED)
        wide = shape.begins // dim
        if wide > 1:
            rows = min(rows, max(1, fit // wide))
        return rows, shape.begins * min(max(1, fit // wide // rows), tiles(keys, 2 * wide))

    def _are_enough(self, rows: int) -> bool:
        """Whether blocks of so few rows take less time than parts of the keys of larger ones.

        Causal ones that see few keys have more rows, but each of another shape.
        """
        if self.memory.choices.short_blocks:
            return 2 * rows >= self.dim
        if not self.spills:
            return 3 * rows >= 2 * self.dim
        return rows >= self.dim * (2 if self.shape.causal else 1)

    @property
    def spills(self) -> bool:
        """Whether scores would wait in memory, if there are more than one part."""
        memory, shape = self.memory, self.shape
        fit = min(memory.block_rows, memory.slots // 2, self.half // 2 // self.width)
        return (
            self.may_spill
            and shape.stored
            and memory.choices.scores_in_memory
            and not memory.layout.stays
            and memory.config.stores_int16
            and self.dim <= fit < shape.rows
        )

    @property
    def _at_once(self) -> int:
        """Rows of the accumulator that the scores of all keys may take."""
        return self.half // 2 if self.shape.onto else self.half

    def _causal_rows(self, least: int) -> Iterator[int]:
        """Rows of blocks that see few keys, as many as fit; those that see all are of `least`."""
        row, rows, memory = 0, self.shape.rows, self.memory
        most = min(memory.block_rows, self.slots, self.half // self.width)
        room = min(self._at_once, memory.bank_rows // 2, memory.numerator_rows)
        while row < rows:
            sizes = range(most // self.dim * self.dim, least, -self.dim)
            fit = (size for size in sizes if size * self._seen(row, size) <= room)
            size = min(next(fit, least), rows - row)
            yield size
            row += size

    def _seen(self, row: int, rows: int) -> int:
        """Tiles of keys that some rows see."""
        first, behind = keys_seen(self.heads[0].scores, row, rows, self.dim)
        return tiles(behind - first, self.dim)
