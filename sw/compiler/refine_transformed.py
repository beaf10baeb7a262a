"""A plan of a product that transforms finish to a better one, by the cycles that are expected.

Results pass one bank of the scratchpad twice, on their way from the lanes and to memory, and meet
pieces of weights there.  Who waits for whom follows from all decisions together, and no rule says
which are best: each is taken anew with all others as they are, from a few ways to cut the blocks.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sw.compiler.descent import PlanCosts, descended
from celosia.sw.compiler.refine import heights, with_changes
from celosia.sw.ir.graph import Graph
from celosia.sw.planning.cuts import balanced
from celosia.sw.planning.decisions.decide import only_product
from celosia.sw.planning.forms.plan import Plan, only_stage

__all__ = ["refine_transformed"]

_BLOCK: Final = 4
"""Tiles of rows of a block of usual height: by it, products are counted."""
_MOST_TILES: Final = 640
"""Products of more tiles keep their plan: sums over K hide there what happens behind them."""
_FOLLOWED_TILES: Final = 512
_MOST_STARTS: Final = 4
"""Ways to cut the blocks from which decisions are taken anew: so many, or as few as have that many
tiles together."""
_HEIGHTS: Final = (2, 3, 4, 6, 8, 12, 16)
_WIDTHS: Final = (1, 2, 3, 4, 6, 8)
"""Tiles of rows and of columns of a block."""
_FEW: Final = (1, 2, 4)
"""Tiles of a piece."""


def refine_transformed(
    plan: Plan, graph: Graph, config: AcceleratorConfig, timing: MemoryTiming | None = None
) -> Plan:
    """The best plan that is found from `plan` on, which is legal for a graph of one product."""
    op, dim = only_product(graph), config.dim
    rows, columns, depth = (-(-n // dim) for n in (op.out.rows, op.out.cols, op.a.cols))
    tiles = -(-rows // _BLOCK) * columns * depth
    if tiles > _MOST_TILES:
        return plan
    search, cost = _Search(config, columns, depth), PlanCosts(graph, config, timing)

    def cycles(legal: Plan) -> int:
        return cost(legal) or 0

    starts = [each for each in [plan, *search.blocks(plan)] if cost(each) is not None]
    few = max(1, min(_MOST_STARTS, _FOLLOWED_TILES // tiles))
    best = sorted(starts, key=cycles)[:few]
    return min((descended(each, search.decisions, cost) for each in best), key=cycles)


@dataclass(frozen=True)
class _Search:
    config: AcceleratorConfig
    columns: int
    """Tiles of columns of the product."""
    depth: int
    """Tiles of K."""

    @property
    def decisions(self) -> tuple[Callable[[Plan], Iterator[Plan]], ...]:
        """What is decided, one after the other."""
        return (
            self.weights,
            self.rows_of_a,
            self.together,
            self.banks,
            self.ends,
            self.blocks,
        )

    def blocks(self, plan: Plan) -> Iterator[Plan]:
        """Blocks of other heights and widths, as far as two of them fit the accumulator."""
        total, half = sum(only_stage(plan).rows), self.config.accumulator_rows // 2
        tall = dict.fromkeys(
            balanced(total, -(-total // (tiles * self.config.dim))) for tiles in _HEIGHTS
        )
        wide = dict.fromkeys(balanced(self.columns, -(-self.columns // n)) for n in _WIDTHS)
        for rows, tiles in product(tall, wide):
            if rows[0] * tiles[0] <= half:
                yield with_changes(plan, rows=rows, tiles=tiles, parts=())

    def weights(self, plan: Plan) -> Iterator[Plan]:
        """Pieces of weights."""
        w = only_stage(plan).w
        depths = dict.fromkeys(min(k, self.depth) for k in (*_FEW, self.depth))
        for k_tiles, columns in product(depths, _FEW):
            yield with_changes(plan, w=replace(w, k_tiles=k_tiles, columns=columns))

    def rows_of_a(self, plan: Plan) -> Iterator[Plan]:
        """Pieces of A, of which the very first may be short."""
        a = only_stage(plan).a
        for tiles in _FEW:
            for first in dict.fromkeys((1, tiles)):
                yield with_changes(plan, a=replace(a, tiles=tiles, first=first))

    def together(self, plan: Plan) -> Iterator[Plan]:
        """Tiles of columns that leave together."""
        drain = only_stage(plan).drain
        yield from (with_changes(plan, drain=replace(drain, tiles=tiles)) for tiles in (1, 2, 3, 4))

    def banks(self, plan: Plan) -> Iterator[Plan]:
        """Banks for pieces of A; all others are for those of weights, but for results."""
        count, rows = self.config.scratchpad_banks, self.config.scratchpad_bank_rows
        *_, (_, last) = plan.rings["b"].spans
        banks = [(bank * rows, rows) for bank in range(count - 1)]
        banks.append(((count - 1) * rows, last))
        for first in range(1, count):
            spans = {"a": tuple(banks[:first]), "b": tuple(banks[first:])}
            rings = {name: replace(plan.rings[name], spans=each) for name, each in spans.items()}
            yield replace(plan, rings={**plan.rings, **rings})

    def ends(self, plan: Plan) -> Iterator[Plan]:
        """The other loop order, parts of the last block, few rows in the first and in the last."""
        stage, dim = only_stage(plan), self.config.dim
        yield with_changes(plan, outer="cols" if stage.outer == "rows" else "rows")
        tiles = stage.tiles[-1]
        for parts in ((), (tiles - 1, 1), (-(-tiles // 2), tiles // 2)):
            if 0 not in parts:
                yield with_changes(plan, parts=parts)
        most = self.config.accumulator_rows // 2 // max(stage.tiles) // dim
        yield from (with_changes(plan, rows=rows) for rows in heights(stage, dim, most))
