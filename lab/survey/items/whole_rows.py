"""The plan by which the survey fuses a linear layer with its normalization: rows stay whole.

All columns of a block of rows stand in the accumulator at once, and their sums with the residual
stream in the scratchpad until they are normalized: no part of them passes through memory.  So a
block has as few rows as the accumulator holds, and weights are loaded again for each.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.sw.compiler.passes import predict
from celosia.sw.ir.graph import Graph
from celosia.sw.planning.decisions.decide_graph import decide_graph
from celosia.sw.planning.forms.plan import Plan, RingPlan
from celosia.sw.planning.forms.stages import LinearStage

__all__ = ["whole_rows"]

_BANKS: Final = 4
_SHARES: Final = 8
"""Pieces of A take one of so many shares of two banks: those of few rows are small."""
_RESULTS: Final = 2
"""Results of so many transforms fit into their ring at once."""
_WORDS: Final = 2
"""Bytes of what is added, and of the wider result."""


def whole_rows(graph: Graph, config: AcceleratorConfig) -> Plan:
    """The plan of a linear layer and its normalization that is expected to be fastest.

    Its blocks are as tall as the local memories allow, or the next multiple of the array below.
    """
    plan = decide_graph(graph, config)
    (stage,) = plan.stages
    assert isinstance(stage, LinearStage), "a linear layer, and what is fused to it"
    plan = replace(plan, rings={**plan.rings, **dict(_rings(config))})
    plans = [
        replace(plan, stages=(_whole(stage, rows, plan.rings["normalized"].least),))
        for rows in _heights(stage, config, plan.rings["wide"].least)
    ]
    return min(plans, key=lambda each: predict(graph, config, each).cycles)


def _heights(stage: LinearStage, config: AcceleratorConfig, ring_rows: int) -> list[int]:
    """Rows of a block: the most that both memories hold, and a multiple of the array's."""
    across = sum(stage.tiles)
    most = min(
        config.accumulator_rows // across,
        ring_rows // (_WORDS * across),
        config.statistics_rows // 2,
    )
    return [most, most // config.dim * config.dim] if most > config.dim else [most]


def _rings(config: AcceleratorConfig) -> Iterator[tuple[str, RingPlan]]:
    """The rings that are other ones: whole rows take all that pieces of A leave of two banks."""
    bank = config.scratchpad_rows // _BANKS
    piece, quarter = bank // _SHARES, bank // 4
    yield "activations", _scratchpad((bank, piece), (3 * bank - piece, piece))
    yield "wide", _scratchpad((bank + piece, 2 * (bank - piece)))
    yield "normalized", _scratchpad((4 * bank - 2 * quarter, quarter))
    yield "residuals", _scratchpad((4 * bank - quarter, quarter))
    yield "halves", RingPlan(space="accumulator", spans=((0, config.accumulator_rows),))


def _scratchpad(*spans: tuple[int, int]) -> RingPlan:
    return RingPlan(space="scratchpad", spans=spans)


def _whole(stage: LinearStage, rows: int, ring_rows: int) -> LinearStage:
    """`stage` by blocks of so many whole rows; rings of what passes by have `ring_rows` rows."""
    assert stage.norm is not None
    total = sum(stage.rows)
    cuts = (rows,) * (total // rows) + ((total % rows,) if total % rows else ())
    fit = max(1, ring_rows // (_RESULTS * _WORDS * rows))
    return replace(
        stage,
        rows=cuts,
        tiles=(sum(stage.tiles),),
        drain=replace(
            stage.drain,
            results="wide",
            residuals="residuals",
            tiles=min(stage.drain.tiles, fit),
        ),
        norm=replace(stage.norm, source="wide", tiles=min(stage.norm.tiles, fit)),
        tail=(),
    )
