"""A plan of a short product to a better one, by the cycles that the timeline expects.

A short product loses most cycles at both ends: until its first pieces are there, and while its last
block drains.  Short first pieces make the one shorter, a last block of few rows the other.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sw.ir.graph import Graph, MatMul
from celosia.sw.pipeline import compile_plan, predict_graph
from celosia.sw.planning.plan import Plan, ProductStage
from celosia.sw.planning.verify import PlanError

__all__ = ["REFINED_TILES", "refine"]

REFINED_TILES: Final = 512
"""Products of more tiles keep their plan: the time that their ends take does not matter."""


def refine(
    plan: Plan, graph: Graph, config: AcceleratorConfig, timing: MemoryTiming | None = None
) -> Plan:
    """The best of `plan`, which is legal for a graph of one product, and some plans like it."""
    (stage,), (op,), dim = plan.stages, graph.ops, config.dim
    assert isinstance(op, MatMul)
    if len(stage.rows) * sum(stage.tiles) * -(-op.a.cols // dim) > REFINED_TILES:
        return plan

    def cycles(candidate: Plan) -> int:
        compiled = compile_plan(graph, candidate, config, loops=False)
        return predict_graph(compiled, config, timing).cycles

    best, least = plan, cycles(plan)
    for other in _like(stage, dim):
        candidate = replace(plan, stages=(other,))
        try:
            expected = cycles(candidate)
        except PlanError:  # The cut does not fit.
            continue
        if expected < least:
            best, least = candidate, expected
    return best


def _like(stage: ProductStage, dim: int) -> Iterator[ProductStage]:
    """Plans with other ends, each once; not all of them are legal."""
    rows, tiles = sum(stage.rows), sum(stage.tiles)
    heights = [stage.rows, (rows,), *[(rows - dim, dim)] * (rows > dim)]
    widths = [stage.tiles, (tiles,)]
    for cut, wide, first, across in product(
        dict.fromkeys(heights),
        dict.fromkeys(widths),
        dict.fromkeys((1, stage.a.tiles)),
        dict.fromkeys((1, stage.b.n_tiles)),
    ):
        last = wide[-1]
        for tail in ((), *[(last - 1, 1)] * (last > 1)):
            yield replace(
                stage,
                rows=cut,
                tiles=wide,
                a=replace(stage.a, tiles=first, first=first, keep=True),
                b=replace(stage.b, n_tiles=across, keep=True),
                tail=tail,
            )
