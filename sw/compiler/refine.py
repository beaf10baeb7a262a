"""A plan of a short product to a better one, by the cycles that the timeline expects.

A short product loses most cycles at both ends: until its first pieces are there, and while its last
block drains.  Short first pieces make the one shorter, a last block of few rows the other.
The model by which `celosia.sw.planning.decisions.decide` ranks plans is too rough for these ends,
and the timeline too slow to rank all plans: it decides among a few here.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sw.compiler.passes import predict
from celosia.sw.ir.graph import Graph
from celosia.sw.planning.cuts import balanced
from celosia.sw.planning.decisions.decide import only_product
from celosia.sw.planning.forms.plan import Plan, only_stage
from celosia.sw.planning.forms.stages import LinearStage
from celosia.sw.planning.rules.verify import PlanError

__all__ = ["REFINED_TILES", "heights", "refine"]

REFINED_TILES: Final = 512
"""Products of more tiles keep their plan: the time that their ends take does not matter."""


def refine(
    plan: Plan, graph: Graph, config: AcceleratorConfig, timing: MemoryTiming | None = None
) -> Plan:
    """The best of `plan`, which is legal for a graph of one product, and some plans like it.

    Stores finish the product; where transforms do, there is `refine_transformed`.
    """
    stage, op, dim = only_stage(plan), only_product(graph), config.dim
    if len(stage.rows) * sum(stage.tiles) * -(-op.a.cols // dim) > REFINED_TILES:
        return plan
    improved = _Search(plan, graph, config, timing).improved(stage)
    return replace(plan, stages=(improved,))


class _Search:
    """Compares cuts with small pieces first, then pieces, then parts of the last block."""

    def __init__(
        self, plan: Plan, graph: Graph, config: AcceleratorConfig, timing: MemoryTiming | None
    ):
        self.plan, self.graph, self.config, self.timing = plan, graph, config, timing
        self.known: dict[LinearStage, int | None] = {}
        """The expected cycles of each stage; None: it is not legal."""

    def improved(self, stage: LinearStage) -> LinearStage:
        """The best stage of those that are compared."""
        best = self._best([stage, *self._cuts(stage)])
        best = self._best([best, *_pieces(best, stage)])
        return self._best([best, *_tails(best)])

    def _best(self, stages: Iterable[LinearStage]) -> LinearStage:
        """The first of those that are expected to take the fewest cycles."""
        costs = {stage: self._cycles(stage) for stage in stages}
        legal = {stage: cycles for stage, cycles in costs.items() if cycles is not None}
        return min(legal, key=legal.__getitem__)

    def _cycles(self, stage: LinearStage) -> int | None:
        if stage not in self.known:
            plan = replace(self.plan, stages=(stage,))
            try:
                self.known[stage] = predict(self.graph, self.config, plan, self.timing).cycles
            except PlanError:  # The cut does not fit.
                self.known[stage] = None
        return self.known[stage]

    def _cuts(self, stage: LinearStage) -> Iterator[LinearStage]:
        """Few rows in the first and in the last block, or one tile in the last; small pieces."""
        half = self.config.accumulator_rows // 2
        for wide in dict.fromkeys(_widths(stage)):
            *_, last = wide
            most = half // max(wide) // self.config.dim
            for high in heights(stage, self.config.dim, most):
                yield replace(
                    stage,
                    rows=high,
                    tiles=wide,
                    outer="cols" if len(high) > 1 and len(wide) > 1 else stage.outer,
                    a=replace(stage.a, tiles=1, first=1, keep=True),
                    w=replace(stage.w, columns=1, keep=True),
                    parts=_parts(last),
                )


def _widths(stage: LinearStage) -> list[tuple[int, ...]]:
    """The blocks of columns as they are, all at once, or the last tile apart."""
    tiles = sum(stage.tiles)
    return [stage.tiles, (tiles,), *[(tiles - 1, 1)] * (tiles > 1)]


def heights(stage: LinearStage, dim: int, most: int) -> Iterable[tuple[int, ...]]:
    """Ways to cut all rows into blocks of at most `most` tiles."""
    rows = sum(stage.rows)
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


def _pieces(stage: LinearStage, before: LinearStage) -> Iterator[LinearStage]:
    """Pieces as large as they were `before`."""
    for a in (stage.a, replace(stage.a, tiles=before.a.tiles), before.a):
        for across in (stage.w.columns, 2, before.w.columns):
            yield replace(stage, a=replace(a, keep=True), w=replace(stage.w, columns=across))


def _tails(stage: LinearStage) -> Iterator[LinearStage]:
    """The last block at once, or its last tile apart."""
    yield replace(stage, parts=())
    yield replace(stage, parts=_parts(stage.tiles[-1]))


def _parts(tiles: int) -> tuple[int, ...]:
    return (tiles - 1, 1) if tiles > 1 else ()
