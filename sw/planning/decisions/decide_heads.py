"""How heads of attention are computed, and where their pieces stand.

`celosia.sw.planning.memory_map` has the rings.  Keys and values that do not fit there are streamed
past, once for each block of rows.  They then share the ring of weights, whose banks take turns: so
one piece arrives while another is read.  `celosia.sw.planning.decisions.head_cuts` cuts the heads.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final

from celosia.sw.ir.graph import View
from celosia.sw.ir.graphs.tensors import ELEMENT_BYTES
from celosia.sw.planning.decisions.decided import Decided
from celosia.sw.planning.decisions.head_cuts import HeadCuts, HeadShape, head_shape
from celosia.sw.planning.extents import Spans, side_by_side, tiles
from celosia.sw.planning.forms.groups import Head, Heads
from celosia.sw.planning.forms.plan import RingPlan
from celosia.sw.planning.forms.stages import (
    AttentionStage,
    HeadGroup,
    PiecesOfW,
    SpillPlan,
    SumsDrain,
)
from celosia.sw.planning.memory_map import MemoryMap
from celosia.sw.planning.rules.common import SHARES

__all__ = ["decide_heads"]

_EXPONENTS: Final = 2
"""Transforms that make the numerators of a part: the next scores can follow the first."""
_QUARTERS: Final = 4
_BLOCKS_IN_MEMORY: Final = 2
"""Blocks whose scores are in memory at once: those of one leave, those of the other come back."""


def decide_heads(together: Heads, decided: Decided) -> AttentionStage:
    """The stage of heads that do not read each other; its rings are added to the map.

    They begin with the half of the accumulator whose turn it is: sums of what comes before them may
    still be in the other one.
    """
    memory, graph = decided.places, decided.graph
    dim = memory.config.dim
    alike = [
        _Group(tuple(members), shape, decided)
        for shape, members in groupby(together.heads, lambda head: head_shape(head, graph, dim))
    ]
    slots, spilled = "slots", all(group.spilled for group in alike)
    if spilled:
        slots = _slots(memory, _QUARTERS)
    for group in alike:
        group.may_spill = group.spilled = spilled
        group.cut(memory.rows(slots))
    ahead = _ahead(alike) if memory.choices.overlap else 0
    by_turns = _scores_by_turns(alike, memory.accumulator_half) if ahead == 1 else 0
    if by_turns:
        for group in alike:
            group.alternate(by_turns)
    first = ahead == 1 and not by_turns and all(group.at_once for group in alike)
    made = tuple(group.decide(ahead) for group in alike)
    decided.blocks += first
    # Contexts stay if they are of all rows: nobody finds those of several texts together.
    for out in (head.context.out for head in together.heads):
        if out.rows == graph.tensors[out.tensor].rows:
            decided.stay(out, made[0].drain.results)
    if not spilled and ahead > 1:  # For those ahead, one that is drained, and one more.
        slots = _slots(memory, ahead + 2)
    return AttentionStage(groups=made, slots=slots, first="halves" if first else "", ahead=ahead)


def _ahead(groups: Sequence["_Group"]) -> int:
    """Parts whose scores are summed up before a context: more than one where parts are short."""
    wanted = max(group.parts_of_softmax for group in groups)
    return max(1, min(wanted, *(group.most_ahead for group in groups)))


def _scores_by_turns(groups: Sequence["_Group"], half: int) -> int:
    """Rows of each half of the accumulator for scores, if the halves take turns; 0: they do not.

    They are the most of any group: what one part leaves for later is apart from what the next use.
    """
    if not all(group.may_alternate for group in groups):
        return 0
    scores, contexts = map(max, zip(*(group.sums_by_turns for group in groups), strict=True))
    return scores if scores + contexts <= half else 0


def _slots(memory: MemoryMap, turns: int) -> str:
    """The ring of the statistics of so many blocks of rows, by turns."""
    rows = memory.config.statistics_rows // turns
    ring = RingPlan(space="statistics", spans=side_by_side(0, rows, turns), step=rows)
    return memory.add("slots of heads", ring)


class _Group(HeadCuts):
    """The decisions for heads of one shape."""

    def __init__(self, heads: tuple[Head, ...], shape: HeadShape, decided: Decided):
        super().__init__(heads, shape, decided.places)
        self.stays = decided.stays
        self.of_contexts = decided.blocks % 2 * self.half
        self.of_scores = self.half - self.of_contexts

    def decide(self, ahead: int) -> HeadGroup:
        """All of them, if the scores of so many parts are summed up `ahead` of a context."""
        turns = max(2, ahead + 1)
        even, odd = self._queries()
        return HeadGroup(
            heads=tuple((head.scores.name, head.context.name) for head in self.heads),
            rows=self.rows,
            keys=self.keys,
            spill=self._spill() if self.spilled else None,
            queries=tuple((even, odd)[turn % 2] for turn in range(turns)),
            k=self._pieces("keys", (head.scores.b for head in self.heads)),
            v=self._pieces("values", (head.context.b for head in self.heads)),
            scores=self._scores(turns if len(self.keys) == 1 else 0),
            exponents=1 if self.spilled or self.alternates else _EXPONENTS,
            numerators=self._numerators(turns),
            contexts=self._contexts(max(self.rows), turns),
            drain=self._drain(max(self.rows)),
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

    def _spill(self) -> SpillPlan:
        """Places for three blocks: one leaves, one comes back, the end of a third may be late."""
        blocks = _BLOCKS_IN_MEMORY + self.memory.choices.overlap
        return SpillPlan(ring=self._scratchpad("scores back"), blocks=blocks)

    def _stay(self) -> bool:
        """Whether keys and values of a head stay in the scratchpad."""
        if self.memory.layout.streams_heads or self.spilled:
            return False
        bank, keys = self.memory.bank_rows, tiles(self.shape.keys, self.dim) * self.dim
        depth = tiles(self.shape.depth, self.dim)
        return keys * depth <= bank and keys * self.width <= bank // 2

    def _pieces(self, name: str, views: Iterable[View]) -> PiecesOfW:
        memory = self.memory
        ring = self._kept(views) or (self._scratchpad(name) if self._stay() else "weights")
        k_tiles, columns = memory.piece_tiles, memory.columns(memory.rows(ring))
        if not memory.layout.streams_heads:
            return PiecesOfW(ring=ring, k_tiles=k_tiles, columns=columns)
        if name == "values":
            k_tiles = self._even(k_tiles)
        elif self.shape.transposed:
            columns = self._even(columns)
        pieces = memory.layout.nest_pieces
        return PiecesOfW(ring=ring, k_tiles=k_tiles, columns=columns, pieces=pieces)

    def _even(self, usual: int) -> int:
        """Tiles of keys of a piece: about as many as usual, and the last piece is about as long.

        Loads are some pieces ahead of the products, in another bank than these: they would meet
        there if some pieces were over much sooner than others.
        """
        keys = tiles(self.shape.keys, self.dim)
        across = self.dim * max(self.width, tiles(self.shape.depth, self.dim))
        fit = self.memory.rows("weights") // (SHARES * across)
        most = max(usual, min(self.memory.key_tiles, fit))

        def fitness(size: int) -> tuple[float, int]:
            last = (keys - 1) % size + 1
            return last / size, -abs(size - usual)

        return max(range(max(1, usual - 1), most + 1), key=fitness)

    def _scores(self, turns: int) -> str:
        """One half: all of it for the scores of all keys, if not of more than two parts.

        No `turns`: scores are those of two parts of a block by turns.  Both halves by turns begin
        with the one that is free.
        """
        if self.alternates:
            return self._sums("scores", self._by_turns(0, self.scores))
        if self.spilled:
            spans = (0, self.half // 2), (self.half, self.half // 2)
        elif turns == 0 or (turns <= 2 and self.shape.onto):
            spans = side_by_side(self.of_scores, self.half // 2, 2)
        elif turns > 2:
            spans = side_by_side(self.of_scores, self.half // turns, turns)
        else:
            spans = ((self.of_scores, self.half),)
        return self._sums("scores", spans)

    def _by_turns(self, first: int, rows: int) -> Spans:
        """The same rows of each half of the accumulator."""
        return (self.of_contexts + first, rows), (self.of_scores + first, rows)

    def _contexts(self, rows: int, turns: int) -> str:
        """The second half: for the contexts of two blocks by turns, or of more, if they fit.

        Where scores wait in memory, both halves have a place for scores and one for contexts: sums
        of a bank leave while those of the other are added to.
        """
        half = self.half
        if self.alternates:
            return self._sums("contexts", self._by_turns(self.scores, half - self.scores))
        if self.spilled:
            return self._sums("contexts", ((half // 2, half // 2), (half + half // 2, half // 2)))
        fit = max(1, min(turns, half // (rows * self.width)))
        return self._sums("contexts", side_by_side(self.of_contexts, half // fit, fit))

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

    def _drain(self, rows: int) -> SumsDrain:
        """Results of two transforms fit into their ring: that of A, if no other one is for them."""
        own = "contexts out" in self.spans
        results = self._scratchpad("contexts out") if own else "activations"
        row_bytes = rows * ELEMENT_BYTES[self.shape.type]
        return SumsDrain(
            tiles=min(self.memory.drain_tiles(results, row_bytes), self.width),
            results=results,
            parameters="columns" if self.shape.parameters else "",
        )
