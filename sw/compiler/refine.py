"""Plans of a short product to a better one, by the cycles that the timeline expects.

A short product loses most cycles at both ends: until its first pieces are there, and while its last
block drains.  Where transforms finish it, results pass one bank of the scratchpad twice, and meet
pieces of weights there.  Who waits for whom follows from all decisions together, and no rule says
which are best: each is taken anew with all others as they are, from a few ways to cut the blocks.
The model by which `celosia.sw.planning.decisions.decide` ranks plans is too rough for that, and the
timeline too slow to rank all plans: it follows as many as there is time for.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from math import inf
from typing import Any, Final, NamedTuple

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sw.compiler.descent import PlanCosts, descended
from celosia.sw.ir.graph import Graph
from celosia.sw.planning.cost import predict_stage
from celosia.sw.planning.cuts import balanced
from celosia.sw.planning.decisions.decide import only_product
from celosia.sw.planning.extents import tiles
from celosia.sw.planning.forms.plan import Plan, only_stage
from celosia.sw.planning.forms.stages import LinearStage

__all__ = ["EFFORTS", "heights", "refine"]


class _Effort(NamedTuple):
    """How much is followed for a product."""

    followed: int
    """Products of tiles in all programs."""
    starts: int
    """Plans that are followed, of those from which decisions may be taken anew."""
    descents: int
    """Starts from which they are."""


EFFORTS: Final = {"mvout": _Effort(16_000, 16, 2), "transform": _Effort(60_000, 32, 3)}
"""By what finishes a product: up to a second, and some seconds where results meet weights."""
_PROGRAM_TILES: Final = 32
"""Products of tiles that take as long to follow as what else is in a program."""
_LEAST_PROGRAMS: Final = 16
"""The ends of a product do not matter of which fewer programs could be followed."""
_GAIN: Final = 0.005
"""The share by which another plan of such a product must be better: it has more commands."""
_CUTS: Final = 4
"""The plans with the best ways to cut the blocks, with which a search may start."""
_ENOUGH: Final = 1.01
"""A plan that takes so many times the array's own cycles is taken as it is."""
_HEIGHTS: Final = (1, 2, 3, 4, 6, 8, 16)
_WIDTHS: Final = (1, 2, 3, 4, 6, 8)
"""Tiles of rows and of columns of a block."""
_FEW: Final = (1, 2, 4)
"""Tiles of a piece."""


def refine(
    plans: Sequence[Plan],
    graph: Graph,
    config: AcceleratorConfig,
    timing: MemoryTiming | None = None,
) -> Plan:
    """The best plan that is found from `plans` on, which are legal for a graph of one product.

    There is at least one, and the best ones come first.
    """
    first, *_ = plans
    stage, (op, dim) = only_stage(first), (only_product(graph), config.dim)
    effort = EFFORTS[stage.drain.by]
    search = _Search(config, tiles(op.out.cols, dim), tiles(op.a.cols, dim))
    followed = len(stage.rows) * search.columns * search.depth + _PROGRAM_TILES
    cost = PlanCosts(graph, config, timing, effort.followed // followed)

    def cycles(plan: Plan) -> float:
        found = cost(plan)
        return inf if found is None else found

    def roughly(plan: Plan) -> float:
        return predict_stage(op, graph, config, only_stage(plan), timing).cycles

    starts = sorted(search.starts(plans), key=roughly)[: effort.starts]
    if cost.most < _LEAST_PROGRAMS:
        enough = (1 - _GAIN) * cycles(first)
        other = min(starts, key=cycles)
        return other if cycles(other) < enough else first
    starts.sort(key=cycles)
    if cycles(starts[0]) <= _ENOUGH * op.out.rows * search.columns * search.depth:
        return starts[0]
    best = starts[: effort.descents]
    return min((descended(each, search.decisions, cost) for each in best), key=cycles)


def _changed(plan: Plan, **changes: Any) -> Plan:
    """`plan` with other decisions of its only stage."""
    return replace(plan, stages=(replace(only_stage(plan), **changes),))


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
        return self.weights, self.rows_of_a, self.together, self.banks, self.ends, self.cuts

    def starts(self, plans: Sequence[Plan]) -> Iterator[Plan]:
        """The best of `plans` that cut blocks in different ways, and some like these."""
        cuts: dict[tuple[int, ...], Plan] = {}
        for plan in plans:
            stage = only_stage(plan)
            cuts.setdefault((*stage.rows, 0, *stage.tiles), plan)
        for plan in islice(cuts.values(), _CUTS):
            a, w = only_stage(plan).a, only_stage(plan).w
            yield plan
            yield _changed(plan, a=replace(a, tiles=1, first=1), w=replace(w, columns=1))
        for rows, across in product(self._tall(plans[0]), self._wide):
            if rows[0] * across[0] <= self._half:
                yield _changed(plans[0], rows=rows, tiles=across, parts=())

    @property
    def _half(self) -> int:
        return self.config.accumulator_rows // 2

    @property
    def _wide(self) -> Iterable[tuple[int, ...]]:
        """Nearly equal blocks of columns."""
        return dict.fromkeys(balanced(self.columns, tiles(self.columns, n)) for n in _WIDTHS)

    def _tall(self, plan: Plan) -> Iterable[tuple[int, ...]]:
        """Nearly equal blocks of rows."""
        rows, dim = sum(only_stage(plan).rows), self.config.dim
        return dict.fromkeys(balanced(rows, tiles(rows, n * dim)) for n in _HEIGHTS)

    def weights(self, plan: Plan) -> Iterator[Plan]:
        """Pieces of weights."""
        w = only_stage(plan).w
        depths = dict.fromkeys(min(k, self.depth) for k in (*_FEW, self.depth))
        for k_tiles, columns in product(depths, _FEW):
            yield _changed(plan, w=replace(w, k_tiles=k_tiles, columns=columns))

    def rows_of_a(self, plan: Plan) -> Iterator[Plan]:
        """Pieces of A, of which the very first may be short."""
        a = only_stage(plan).a
        for count in _FEW:
            for first in dict.fromkeys((1, count)):
                yield _changed(plan, a=replace(a, tiles=count, first=first))

    def together(self, plan: Plan) -> Iterator[Plan]:
        """Tiles of columns that leave together."""
        drain = only_stage(plan).drain
        yield from (_changed(plan, drain=replace(drain, tiles=count)) for count in (1, 2, 3, 4))

    def banks(self, plan: Plan) -> Iterator[Plan]:
        """Banks for pieces of A, and how long these are; others are for weights and results."""
        number, rows = self.config.scratchpad_banks, self.config.scratchpad_bank_rows
        *_, (_, last) = plan.rings["b"].spans
        banks = [(bank * rows, rows) for bank in range(number - 1)]
        banks.append(((number - 1) * rows, last))
        for first in range(1, number):
            spans = {"a": tuple(banks[:first]), "b": tuple(banks[first:])}
            rings = {name: replace(plan.rings[name], spans=each) for name, each in spans.items()}
            moved = replace(plan, rings={**plan.rings, **rings})
            yield moved
            for count in _FEW:
                yield _changed(moved, a=replace(only_stage(plan).a, tiles=count, first=count))

    def ends(self, plan: Plan) -> Iterator[Plan]:
        """The other loop order, and parts of the last block."""
        stage = only_stage(plan)
        yield _changed(plan, outer="cols" if stage.outer == "rows" else "rows")
        last = stage.tiles[-1]
        for parts in ((), (last - 1, 1), (-(-last // 2), last // 2)):
            if 0 not in parts:
                yield _changed(plan, parts=parts)

    def cuts(self, plan: Plan) -> Iterator[Plan]:
        """Few rows in the first and in the last block, or blocks alike; the last tile apart."""
        stage = only_stage(plan)
        ends = heights(stage, self.config.dim, self._half)
        for rows in dict.fromkeys((*ends, *self._tall(plan))):
            yield _changed(plan, rows=rows)
        apart = [(self.columns - 1, 1)] * (self.columns > 1)
        for across in dict.fromkeys((*self._wide, (self.columns,), *apart)):
            yield _changed(plan, tiles=across, parts=())


def heights(stage: LinearStage, dim: int, half: int) -> Iterable[tuple[int, ...]]:
    """Ways to cut all rows into blocks, some with few rows at the ends, and tall ones between.

    So many rows of the accumulator are for the sums of one block between the ends.
    """
    rows, most = sum(stage.rows), half // max(stage.tiles) // dim
    ways = [stage.rows, (rows,)]
    if rows > dim:
        ways.append((rows - dim, dim))
    for first in (1, 2, 3):
        middle = -(-rows // dim) - first - 1
        if middle > 0 and most > 0:
            blocks = [size * dim for size in balanced(middle, -(-middle // most))]
            blocks[0] -= -rows % dim
            ways.append((first * dim, *blocks, dim))
    return dict.fromkeys(ways)
