"""The plans of a product that are compared: how it is cut, in which order, where pieces stand.

They are combinations of a few block heights, loop orders and residencies.  Every legal
configuration and every M, N, K has one.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from celosia.isa.config import AcceleratorConfig
from celosia.sw.ir.graph import Graph, MatMul
from celosia.sw.planning.cuts import Cut, cuts
from celosia.sw.planning.extents import Spans, side_by_side
from celosia.sw.planning.finish import ProductFinish
from celosia.sw.planning.forms.plan import Plan, RingPlan
from celosia.sw.planning.forms.stages import LinearStage, PiecesOfA, PiecesOfW
from celosia.sw.planning.queues import loads_ahead
from celosia.sw.planning.rules.verify import machine_of

__all__ = ["product_plans"]

Order = Literal["rows", "cols"]


def product_plans(op: MatMul, graph: Graph, config: AcceleratorConfig) -> Iterator[Plan]:
    """All plans of the only operator of `graph` that are compared; at least one."""
    finish = ProductFinish(op, graph, config)
    for cut in cuts(op, config):
        for outer in _orders(cut):
            if kept := _longest_kept(cut, outer, finish):
                yield from _Plans(finish, cut, kept).plans()


@dataclass(frozen=True)
class _Kept:
    """What stays on the chip, and where."""

    outer: Order
    a: bool
    b: bool
    spans: tuple[Spans, Spans]
    """The spans for the pieces of A, and those for B."""

    def pieces(self, cut: Cut) -> tuple[int, int]:
        """Pieces of A and of B that there is room for."""
        sizes = zip(self.spans, (cut.a_rows, cut.b_rows), strict=True)
        a, b = (sum(rows // size for _, rows in spans) for spans, size in sizes)
        return a, b


def _orders(cut: Cut) -> tuple[Order, ...]:
    return ("rows", "cols") if len(cut.rows) > 1 and len(cut.tiles) > 1 else ("rows",)


def _longest_kept(cut: Cut, outer: Order, finish: ProductFinish) -> _Kept | None:
    """As much as fits of what is needed again, B rather than A; None: not even that is loaded."""
    for b in (True, False) if len(cut.rows) > 1 else (False,):
        for a in (True, False) if len(cut.tiles) > 1 else (False,):
            needed = _needed(cut, outer, a, b)
            spans_a, spans_b = _spans(cut, finish.config, needed[0] if a else None)
            *others, (first, rows) = spans_b
            if rows - finish.rows < cut.b_rows:
                continue
            kept = _Kept(outer, a, b, (spans_a, (*others, (first, rows - finish.rows))))
            room = kept.pieces(cut)
            if room[0] >= needed[0] and room[1] >= needed[1]:
                return kept
    return None


def _needed(cut: Cut, outer: Order, keep_a: bool, keep_b: bool) -> tuple[int, int]:
    """Pieces without room for which A and B cannot be kept, or move on."""
    blocks_a = 1 if outer == "rows" else len(cut.rows)
    kept_a = blocks_a * cut.a_pieces + 1  # The very first piece may be split.
    kept_b = sum(map(cut.b_pieces, cut.tiles))
    if outer == "cols":
        kept_b = cut.b_pieces(max(cut.tiles)) + 1  # One for the next block of columns.
    return kept_a if keep_a else 2, kept_b if keep_b else 2


def _spans(cut: Cut, config: AcceleratorConfig, kept_a: int | None) -> tuple[Spans, Spans]:
    """Rows for the pieces of A, of which so many are kept, and of B.

    They have banks of their own, if enough of them fit there: a row of A is read in every cycle,
    and a bank serves one access in a cycle.  With few rows of A, it is the weights that are read
    all the time, and their next pieces need other banks.
    """
    count, bank = config.scratchpad_banks, config.scratchpad_bank_rows
    half = count // 2
    if len(cut.rows) > 1:  # A tile of B may meet any tile of A.
        return side_by_side(0, bank, half), side_by_side(half * bank, bank, count - half)
    wanted = loads_ahead(config) // 2 if kept_a is None else kept_a
    least = half if max(cut.rows) > config.dim else 1
    first = max(least, -(-wanted // max(1, bank // cut.a_rows)))
    if (count - first) * (bank // cut.b_rows) >= 2 * count:
        return side_by_side(0, bank, first), side_by_side(first * bank, bank, count - first)
    least_b = min(-(-(loads_ahead(config) + 4) // count), max(1, bank // 2 // cut.b_rows))
    room = (bank - least_b * cut.b_rows) // cut.a_rows
    rows = max(1, min(-(-wanted // count), room)) * cut.a_rows
    every = [index * bank for index in range(count)]
    return tuple((row, rows) for row in every), tuple((row + rows, bank - rows) for row in every)


@dataclass(frozen=True)
class _Plans:
    """The plans with a cut, and with what is kept."""

    finish: ProductFinish
    cut: Cut
    kept: _Kept

    def plans(self) -> Iterator[Plan]:
        """A plan for each way in which the first and the last block may be done."""
        cut, op, config = self.cut, self.finish.op, self.finish.config
        firsts = [cut.a_tiles]
        shared = len(cut.rows) > 1  # Other row blocks may meet the same pieces of B.
        if cut.a_tiles > 1 and not op.b_transposed and (cut.b_k_tiles == 1 or not shared):
            firsts.append(1)
        whole = self._stage()
        for first in firsts:
            for parts in dict.fromkeys(((), self._parts())):
                stage = replace(whole, a=replace(whole.a, first=first), parts=parts)
                yield Plan(
                    graph=self.finish.graph.name,
                    machine=machine_of(config),
                    rings=self._rings(),
                    stages=(stage,),
                )

    def _stage(self) -> LinearStage:
        cut, kept = self.cut, self.kept
        return LinearStage(
            op=self.finish.op.name,
            rows=cut.rows,
            tiles=cut.tiles,
            outer=kept.outer,
            a=PiecesOfA(ring="a", tiles=cut.a_tiles, first=cut.a_tiles, keep=kept.a),
            w=PiecesOfW(
                ring="b", k_tiles=cut.b_k_tiles, columns=cut.b_n_tiles, pieces=1, keep=kept.b
            ),
            sums="sums",
            drain=self.finish.drain(max(cut.rows), sum(cut.tiles)),
        )

    def _rings(self) -> dict[str, RingPlan]:
        half = self.finish.config.accumulator_rows // 2
        a, b = self.kept.spans
        return {
            "a": RingPlan(space="scratchpad", spans=a),
            "b": RingPlan(space="scratchpad", spans=b),
            "sums": RingPlan(space="accumulator", spans=side_by_side(0, half, 2)),
            **self.finish.rings,
        }

    def _parts(self) -> tuple[int, ...]:
        """Parts of the last block, each drained while the next is computed; () if they do not fit.

        Without sums over K there is nothing to gain: products that only write let stores read.
        """
        cut, (room_a, room_b) = self.cut, self.kept.pieces(self.cut)
        k_tiles, tiles = cut.k_tiles, cut.tiles[-1]
        fits_a = self.kept.a or room_a > cut.a_pieces
        fits_b = self.kept.b or room_b >= cut.b_pieces(tiles)
        if k_tiles == 1 or not fits_a or not fits_b:
            return ()
        parts = [1]
        while sum(parts) < tiles:
            parts.append(min(max(1, parts[-1] * (k_tiles - 1)), tiles - sum(parts)))
        return tuple(reversed(parts)) if len(parts) > 1 else ()
