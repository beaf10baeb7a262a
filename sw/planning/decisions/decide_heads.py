"""How heads of attention are cut, and where their pieces stand.

`celosia.sw.planning.memory_map` has the rings.  Keys and values that do not fit there are streamed
past, once for each block of rows.  They then share the ring of weights, whose banks take turns: so
one piece arrives while another is read.

Scores of all keys stand in half of the accumulator at once if enough rows of them do to stream
through the tiles of weights, each of which takes as long as `dim` rows to move in.  Else keys are
taken block by block, twice: once for the maximum, once for all else.  Between the two, scores wait
in memory, and the first pass over one block comes between the second one over the block before.
Where there is no other block, or memory sets the pace already (few rows), scores are computed once
again: half as many products more.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate, groupby
from typing import Final

from celosia.sw.ir.causal import keys_seen, leaves_out
from celosia.sw.ir.graph import Graph, View
from celosia.sw.planning.extents import even_cuts, tiles
from celosia.sw.planning.forms.groups import Head
from celosia.sw.planning.forms.plan import RingPlan
from celosia.sw.planning.forms.stages import (
    AttentionStage,
    HeadGroup,
    PiecesOfW,
    SpillPlan,
    SumsDrain,
)
from celosia.sw.planning.memory_map import RING_SHARES, MemoryMap
from celosia.sw.planning.rules.common import ELEMENT_BYTES

__all__ = ["decide_heads"]

_EXPONENTS: Final = 2
"""Transforms that make the numerators of a part: the next scores can follow the first."""
_INT16_BYTES: Final = 2
_RETURNED: Final = 2
"""The scores of so many parts fit into the ring that they come back to."""
_QUARTERS: Final = 4
_BLOCKS_IN_MEMORY: Final = 2
"""Blocks whose scores are in memory at once: those of one leave, those of the other come back."""


Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True, kw_only=True)
class _Shape:
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


def decide_heads(
    heads: tuple[Head, ...], memory: MemoryMap, graph: Graph, stays: Mapping[str, str]
) -> AttentionStage:
    """The stage of heads of `graph` that do not read each other; its rings are added to `memory`.

    Some tensors stay in a ring as they are computed.

    Raises `ValueError` that names the head if not even a row of its context fits.
    """
    alike = [
        _Group(tuple(members), shape, memory, stays)
        for shape, members in groupby(heads, lambda head: _shape(head, graph))
    ]
    slots = "slots"
    if any(group.spilled for group in alike):
        slots = memory.add("slots of heads", _quarters(memory.slots // 2))
    groups = []
    for group in alike:
        group.slots = memory.rows(slots)
        try:
            groups.append(group.decide())
        except ValueError as error:
            raise ValueError(f"{group.heads[0].context.name}: {error}") from None
    ahead = 1 if memory.choices.overlap else 0
    return AttentionStage(groups=tuple(groups), slots=slots, ahead=ahead)


def _shape(head: Head, graph: Graph) -> _Shape:
    scores, context = head.scores, head.context
    return _Shape(
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
    )


class _Group:
    """The decisions for heads of one shape."""

    def __init__(
        self,
        heads: tuple[Head, ...],
        shape: _Shape,
        memory: MemoryMap,
        stays: Mapping[str, str],
    ):
        self.heads, self.shape, self.memory, self.stays = heads, shape, memory, stays
        self.dim, self.half = memory.config.dim, memory.accumulator_half
        self.width = tiles(shape.width, self.dim)
        self.slots = memory.slots
        """Rows of a block whose statistics have room."""
        self.spilled = self.spills and self._cut()[1] < shape.keys
        """Scores wait in memory."""

    def decide(self) -> HeadGroup:
        """All of them."""
        shape, memory, half, bank = self.shape, self.memory, self.half, self.memory.bank_rows
        if self.width > half:
            raise ValueError(
                f"a head is {shape.width} wide, more than the {half * self.dim} that the sums of "
                "fit"
            )
        most, block_keys = self._cut()
        rows = tuple(size for _, size in even_cuts(shape.rows, most))
        keys = tuple(size for _, size in even_cuts(shape.keys, block_keys, self.dim))
        if shape.causal and len(keys) == 1:
            rows = tuple(self._causal_rows(most))
            most = max(rows)
        room = max(bank // 2, self._most_scores(rows, keys))
        self.spans = memory.head_spans(room)
        if self.spilled:
            first, free = self.spans["keys"]
            self.spans["scores back"] = first + free // 2, free // 2
        return HeadGroup(
            heads=tuple((head.scores.name, head.context.name) for head in self.heads),
            rows=rows,
            keys=keys,
            spill=self._spill() if self.spilled else None,
            queries=self._queries(),
            k=self._pieces("keys", (head.scores.b for head in self.heads)),
            v=self._pieces("values", (head.context.b for head in self.heads)),
            scores=self._scores(at_once=len(keys) == 1),
            exponents=1 if self.spilled else _EXPONENTS,
            numerators=(
                self._scratchpad("numerators even", fixed=True),
                self._scratchpad("numerators odd", fixed=True),
            ),
            contexts=self._contexts(most),
            drain=self._drain(self._scratchpad("contexts out"), max(rows)),
        )

    def _queries(self) -> tuple[str, str]:
        """Rings by turns; but one where queries stay, unless keys or values stay there, too."""
        used = {self._kept(head.scores.b for head in self.heads)}
        used.add(self._kept(head.context.b for head in self.heads))
        ring = self._kept(head.scores.a for head in self.heads)
        if ring and ring not in used:
            return ring, ring
        return self._scratchpad("queries even"), self._scratchpad("queries odd")

    def _kept(self, views: Iterable[View]) -> str:
        """The ring where all of `views` stay; empty: there is none."""
        rings = {self.stays.get(view.tensor, "") for view in views}
        return rings.pop() if len(rings) == 1 else ""

    def _cut(self) -> tuple[int, int]:
        """Rows of a block, and keys of a part."""
        shape, memory, dim, half = self.shape, self.memory, self.dim, self.half
        bank, keys = memory.bank_rows, tiles(shape.keys, dim)
        most = min(memory.block_rows, self.slots, half // self.width)
        # All numerators in half a bank, or beside just the queries that are used together.
        queries = min(tiles(shape.depth, dim), RING_SHARES * memory.piece_tiles)
        rows = min(most, self._at_once // keys, max(bank // 2 // keys, bank // (keys + queries)))
        rows = min(rows, memory.numerator_rows // keys)
        if memory.choices.whole_scores and (rows >= shape.rows or self._are_enough(rows)):
            return rows, shape.keys
        rows = min(most, shape.rows, max(1, half // 4))
        fit = min(half // 2, bank // 2)
        if self.spills:
            rows = min(rows, half // 2 // self.width, memory.slots // 2)
            fit = min(fit, bank // 2 // _INT16_BYTES // _RETURNED)
        return rows, dim * min(max(1, fit // rows), tiles(keys, 2))

    def _are_enough(self, rows: int) -> bool:
        """Whether blocks of so few rows take less time than parts of the keys of larger ones.

        Causal ones that see few keys have more rows, but each of another shape.
        """
        if not self.spills:
            return 3 * rows >= 2 * self.dim
        return rows >= self.dim * (2 if self.shape.causal else 1)

    @property
    def spills(self) -> bool:
        """Whether scores would wait in memory, if there are more than one part."""
        memory, shape = self.memory, self.shape
        fit = min(memory.block_rows, memory.slots // 2, self.half // 2 // self.width)
        return (
            memory.choices.scores_in_memory
            and memory.spills
            and memory.config.stores_int16
            and self.dim <= fit < shape.rows
        )

    def _spill(self) -> SpillPlan:
        """Places for three blocks: one leaves, one comes back, the end of a third may be late."""
        blocks = _BLOCKS_IN_MEMORY + self.memory.choices.overlap
        return SpillPlan(ring=self._scratchpad("scores back"), blocks=blocks)

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
        return tiles(keys_seen(self.heads[0].scores, row, rows, self.dim), self.dim)

    def _most_scores(self, rows: tuple[int, ...], keys: tuple[int, ...]) -> int:
        """Rows that the scores of a part take, at most."""
        if len(keys) > 1:
            return max(rows) * tiles(max(keys), self.dim)
        starts = accumulate(rows, initial=0)
        return max(n * self._seen(row, n) for row, n in zip(starts, rows, strict=False))

    def _stay(self) -> bool:
        """Whether keys and values of a head stay in the scratchpad."""
        if self.memory.streams_heads or self.spilled:
            return False
        bank, keys = self.memory.bank_rows, tiles(self.shape.keys, self.dim) * self.dim
        depth = tiles(self.shape.depth, self.dim)
        return keys * depth <= bank and keys * self.width <= bank // 2

    def _pieces(self, name: str, views: Iterable[View]) -> PiecesOfW:
        memory = self.memory
        ring = self._kept(views) or (self._scratchpad(name) if self._stay() else "weights")
        k_tiles, columns = memory.piece_tiles, memory.columns(memory.rows(ring))
        if not memory.streams_heads:
            return PiecesOfW(ring=ring, k_tiles=k_tiles, columns=columns)
        if name == "values":
            k_tiles = self._even(k_tiles)
        elif self.shape.transposed:
            columns = self._even(columns)
        pieces = memory.nest_pieces
        return PiecesOfW(ring=ring, k_tiles=k_tiles, columns=columns, pieces=pieces)

    def _even(self, usual: int) -> int:
        """Tiles of keys of a piece: about as many as usual, and the last piece is about as long.

        Loads are some pieces ahead of the products, in another bank than these: they would meet
        there if some pieces were over much sooner than others.
        """
        keys = tiles(self.shape.keys, self.dim)
        across = self.dim * max(self.width, tiles(self.shape.depth, self.dim))
        fit = self.memory.rows("weights") // (RING_SHARES * across)
        most = max(usual, min(self.memory.key_tiles, fit))

        def fitness(size: int) -> tuple[float, int]:
            last = (keys - 1) % size + 1
            return last / size, -abs(size - usual)

        return max(range(max(1, usual - 1), most + 1), key=fitness)

    def _scores(self, *, at_once: bool) -> str:
        """The first half: for the scores of all keys that are made at once, or two by turns."""
        whole = at_once and not self.shape.onto
        spans = ((0, self.half),) if whole else _two(0, self.half // 2)
        if self.spilled:
            spans = (0, self.half // 2), (self.half, self.half // 2)
        return self._sums("scores", spans)

    def _contexts(self, rows: int) -> str:
        """The second half: for the contexts of two blocks by turns, if both fit.

        Where scores wait in memory, those of two parts and two contexts share both halves: sums of
        a bank leave while those of the other are added to.
        """
        half = self.half
        if self.spilled:
            return self._sums("contexts", ((half // 2, half // 2), (half + half // 2, half // 2)))
        fit = 2 * rows * self.width <= half
        return self._sums("contexts", _two(half, half // 2) if fit else ((half, half),))

    def _sums(self, name: str, spans: Spans) -> str:
        ring = RingPlan(space="accumulator", spans=spans, step=spans[0][1])
        return self.memory.add(name, ring)

    def _scratchpad(self, name: str, *, fixed: bool = False) -> str:
        """A ring of the scratchpad; pieces of a `fixed` one all stand in the same place."""
        span = self.spans[name]
        step = span[1] if fixed else 1
        return self.memory.add(name, RingPlan(space="scratchpad", spans=(span,), step=step))

    def _drain(self, results: str, rows: int) -> SumsDrain:
        """The results of two transforms fit into their ring."""
        row_bytes = rows * ELEMENT_BYTES[self.shape.type]
        return SumsDrain(
            tiles=min(self.memory.drain_tiles(results, row_bytes), self.width),
            results=results,
            parameters="columns" if self.shape.parameters else "",
        )


def _quarters(rows: int) -> RingPlan:
    """Statistics of four blocks of rows by turns."""
    spans = tuple((quarter * rows, rows) for quarter in range(_QUARTERS))
    return RingPlan(space="statistics", spans=spans, step=rows)


def _two(first: int, rows: int) -> Spans:
    """Two spans side by side."""
    return (first, rows), (first + rows, rows)
