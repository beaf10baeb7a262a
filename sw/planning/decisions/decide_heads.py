"""How heads of attention are cut, and where their pieces stand.

`celosia.sw.planning.memory_map` has the rings.  Keys and values that do not fit there are streamed
past, once for each block of rows.  They then share the ring of weights, whose banks take turns: so
one piece arrives while another is read.

Scores of all keys stand in half of the accumulator at once if enough rows of them do to stream
through the tiles of weights, each of which takes as long as `dim` rows to move in.  Else keys are
taken block by block, twice: once for the maximum, once for all else.  That is half as many products
again, but of full blocks of rows.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from typing import Final

from celosia.isa.latencies import LOCAL_READ_LATENCY, lane_latency
from celosia.sw.ir.causal import keys_seen, leaves_out
from celosia.sw.ir.graph import Graph, View
from celosia.sw.planning.extents import even_cuts, tiles
from celosia.sw.planning.forms.groups import Head
from celosia.sw.planning.forms.plan import RingPlan
from celosia.sw.planning.forms.stages import AttentionStage, HeadGroup, PiecesOfW, SumsDrain
from celosia.sw.planning.memory_map import RING_SHARES, MemoryMap
from celosia.sw.planning.rules.common import ELEMENT_BYTES

__all__ = ["decide_heads"]

_EXPONENTS: Final = 2
"""Transforms that make the numerators of a part: the next scores can follow the first."""
_SCALINGS: Final = 2
"""Turns of the scaler that a step of softmax takes, at most."""


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


def decide_heads(
    heads: tuple[Head, ...], memory: MemoryMap, graph: Graph, stays: Mapping[str, str], turn: int
) -> AttentionStage:
    """The stage of heads of `graph` that do not read each other; its rings are added to `memory`.

    Some tensors stay in a ring as they are computed.  It is the `turn` of this half of the
    accumulator: sums of what comes before the heads may still be in the other one.

    Raises `ValueError` that names the head if not even a row of its context fits.
    """
    groups = []
    for shape, alike in groupby(heads, lambda head: _shape(head, graph)):
        members = tuple(alike)
        try:
            groups.append(_Group(members, shape, memory, stays, turn))
        except ValueError as error:
            raise ValueError(f"{members[0].context.name}: {error}") from None
    ahead = _ahead(groups) if memory.choices.overlap else 0
    return AttentionStage(
        groups=tuple(group.decide(ahead) for group in groups),
        slots=_slots(memory, ahead),
        first="halves" if ahead == 1 and all(group.at_once for group in groups) else "",
        ahead=ahead,
    )


def _ahead(groups: Sequence["_Group"]) -> int:
    """Parts whose scores are summed up before a context: more than one where parts are short."""
    wanted = max(group.parts_of_softmax for group in groups)
    return max(1, min(wanted, *(group.most_ahead for group in groups)))


def _slots(memory: MemoryMap, ahead: int) -> str:
    """The ring of statistics: for those ahead, one that is drained, and one more."""
    if ahead <= 1:
        return "slots"
    rows = memory.config.statistics_rows // (ahead + 2)
    spans = tuple((turn * rows, rows) for turn in range(ahead + 2))
    return memory.add("slots of heads", RingPlan(space="statistics", spans=spans, step=rows))


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
    )


class _Group:
    """The decisions for heads of one shape."""

    def __init__(
        self,
        heads: tuple[Head, ...],
        shape: _Shape,
        memory: MemoryMap,
        stays: Mapping[str, str],
        turn: int,
    ):
        self.heads, self.shape, self.memory, self.stays = heads, shape, memory, stays
        self.dim, self.half = memory.config.dim, memory.accumulator_half
        self.of_contexts = turn * self.half
        self.of_scores = self.half - self.of_contexts
        self.width = tiles(shape.width, self.dim)
        if self.width > self.half:
            raise ValueError(
                f"a head is {shape.width} wide, more than the {self.half * self.dim} that the sums "
                "of fit"
            )
        most, block_keys = self._cut()
        self.rows = tuple(size for _, size in even_cuts(shape.rows, most))
        self.keys = tuple(size for _, size in even_cuts(shape.keys, block_keys, self.dim))
        if shape.causal and len(self.keys) == 1:
            self.rows = tuple(self._causal_rows(most))
        self.scores = self._most_scores(self.rows, self.keys)
        self.spans = memory.head_spans(max(memory.bank_rows // 2, self.scores))

    @property
    def parts_of_softmax(self) -> int:
        """Parts whose products take as long as the softmax of one."""
        config, dim, rows = self.memory.config, self.dim, max(self.rows)
        keys, depth = tiles(max(self.keys), dim), tiles(self.shape.depth, dim)
        products = max(rows, dim) * keys * (depth + self.width)
        latency = 2 * (dim + LOCAL_READ_LATENCY + lane_latency(_SCALINGS, config.row_parts))
        softmax = rows * keys * (1 + config.row_parts) + latency
        return tiles(softmax, products)

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

    def decide(self, ahead: int) -> HeadGroup:
        """All of them, if the scores of so many parts are summed up `ahead` of a context."""
        turns = max(2, ahead + 1)
        even, odd = self._queries()
        return HeadGroup(
            heads=tuple((head.scores.name, head.context.name) for head in self.heads),
            rows=self.rows,
            keys=self.keys,
            queries=tuple((even, odd)[turn % 2] for turn in range(turns)),
            k=self._pieces("keys", (head.scores.b for head in self.heads)),
            v=self._pieces("values", (head.context.b for head in self.heads)),
            scores=self._scores(turns if len(self.keys) == 1 else 0),
            exponents=_EXPONENTS,
            numerators=self._numerators(turns),
            contexts=self._contexts(max(self.rows), turns),
            drain=self._drain(
                self.memory.contexts or self._scratchpad("contexts out"), max(self.rows)
            ),
        )

    def _numerators(self, turns: int) -> tuple[str, ...]:
        """A ring for each turn, whose pieces all stand in the same place."""
        return tuple(
            self._scratchpad(
                f"numerators {('even', 'odd')[turn % 2]}",
                fixed=True,
                part=(turn // 2, tiles(turns, 2)),
            )
            for turn in range(turns)
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
        most = min(memory.block_rows, memory.slots, half // self.width)
        # All numerators in half a bank, or beside just the queries that are used together.
        queries = min(tiles(shape.depth, dim), RING_SHARES * memory.piece_tiles)
        rows = min(most, self._at_once // keys, max(bank // 2 // keys, bank // (keys + queries)))
        rows = min(rows, memory.numerator_rows // keys)
        if memory.choices.whole_scores and (rows >= shape.rows or 3 * rows >= 2 * dim):
            return rows, shape.keys
        rows = min(most, shape.rows, max(1, half // 4))
        fit = max(1, min(half // 2, bank // 2) // rows)
        return rows, dim * min(fit, tiles(keys, 2))

    @property
    def _at_once(self) -> int:
        """Rows of the accumulator that the scores of all keys may take."""
        return self.half // 2 if self.shape.onto else self.half

    def _causal_rows(self, least: int) -> Iterator[int]:
        """Rows of blocks that see few keys, as many as fit; those that see all are of `least`."""
        row, rows, memory = 0, self.shape.rows, self.memory
        most = min(memory.block_rows, memory.slots, self.half // self.width)
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
        if self.memory.streams_heads:
            return False
        bank, keys = self.memory.bank_rows, tiles(self.shape.keys, self.dim) * self.dim
        depth = tiles(self.shape.depth, self.dim)
        return keys * depth <= bank and keys * self.width <= bank // 2

    def _pieces(self, name: str, views: Iterable[View]) -> PiecesOfW:
        memory = self.memory
        ring = self._kept(views) or (self._scratchpad(name) if self._stay() else "weights")
        columns = memory.columns(memory.rows(ring))
        return PiecesOfW(
            ring=ring,
            k_tiles=memory.piece_tiles,
            columns=columns,
            pieces=memory.nest_pieces if memory.streams_heads else 2,
        )

    def _scores(self, turns: int) -> str:
        """One half: all of it for the scores of all keys, if not of more than two parts.

        No `turns`: scores are those of two parts of a block by turns.
        """
        if turns == 0 or (turns <= 2 and self.shape.onto):
            spans = _side_by_side(self.of_scores, self.half // 2, 2)
        elif turns > 2:
            spans = _side_by_side(self.of_scores, self.half // turns, turns)
        else:
            spans = ((self.of_scores, self.half),)
        return self._sums("scores", spans)

    def _contexts(self, rows: int, turns: int) -> str:
        """The second half: for the contexts of two blocks by turns, or of more, if they fit."""
        half = self.half
        fit = min(turns, half // (rows * self.width))
        return self._sums("contexts", _side_by_side(self.of_contexts, half // fit, fit))

    def _sums(self, name: str, spans: Spans) -> str:
        ring = RingPlan(space="accumulator", spans=spans, step=spans[0][1])
        return self.memory.add(name, ring)

    def _scratchpad(self, name: str, *, fixed: bool = False, part: tuple[int, int] = (0, 1)) -> str:
        """A ring of the scratchpad, or one of several equal parts of its rows.

        Pieces of a `fixed` one all stand in the same place.
        """
        (first, rows), (number, count) = self.spans[name], part
        size = rows // count
        span = first + number * size, size
        step = size if fixed else 1
        return self.memory.add(name, RingPlan(space="scratchpad", spans=(span,), step=step))

    def _drain(self, results: str, rows: int) -> SumsDrain:
        """The results of two transforms fit into their ring."""
        row_bytes = rows * ELEMENT_BYTES[self.shape.type]
        return SumsDrain(
            tiles=min(self.memory.drain_tiles(results, row_bytes), self.width),
            results=results,
            parameters="columns" if self.shape.parameters else "",
        )


def _side_by_side(first: int, rows: int, count: int) -> Spans:
    """So many spans of these rows."""
    return tuple((first + turn * rows, rows) for turn in range(count))
