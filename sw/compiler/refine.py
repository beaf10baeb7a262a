"""A plan of a short product to a better one, by the cycles that the timeline expects.

A short product loses most cycles at both ends: until its first pieces are there, and while its last
block drains.  Short first pieces make the one shorter, a last block of few rows the other.
The model by which `celosia.sw.planning.decisions.decide` ranks plans is too rough for these ends,
and the timeline too slow to rank all plans: it decides among a few here.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sw.compiler.descent import PlanCosts, descended
from celosia.sw.ir.graph import Graph
from celosia.sw.planning.cuts import balanced
from celosia.sw.planning.decisions.decide import only_product
from celosia.sw.planning.forms.plan import Plan, only_stage
from celosia.sw.planning.forms.stages import LinearStage

__all__ = ["REFINED_TILES", "heights", "refine", "with_changes"]

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
    cost = PlanCosts(graph, config, timing)
    for decision in (partial(_cuts, config), partial(_pieces, stage), _tails):
        plan = descended(plan, [decision], cost)
    return plan


def with_changes(plan: Plan, **changes: Any) -> Plan:
    """`plan` with other decisions of its only stage."""
    return replace(plan, stages=(replace(only_stage(plan), **changes),))


def _cuts(config: AcceleratorConfig, plan: Plan) -> Iterator[Plan]:
    """Few rows in the first and in the last block, or one tile in the last; small pieces."""
    stage, half = only_stage(plan), config.accumulator_rows // 2
    for wide in dict.fromkeys(_widths(stage)):
        *_, last = wide
        for high in heights(stage, config.dim, half // max(wide) // config.dim):
            yield with_changes(
                plan,
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


def _pieces(before: LinearStage, plan: Plan) -> Iterator[Plan]:
    """Pieces as large as they were `before`."""
    stage = only_stage(plan)
    for a in (stage.a, replace(stage.a, tiles=before.a.tiles), before.a):
        for across in (stage.w.columns, 2, before.w.columns):
            w = replace(stage.w, columns=across)
            yield with_changes(plan, a=replace(a, keep=True), w=w)


def _tails(plan: Plan) -> Iterator[Plan]:
    """The last block at once, or its last tile apart."""
    yield with_changes(plan, parts=())
    yield with_changes(plan, parts=_parts(only_stage(plan).tiles[-1]))


def _parts(tiles: int) -> tuple[int, ...]:
    return (tiles - 1, 1) if tiles > 1 else ()
