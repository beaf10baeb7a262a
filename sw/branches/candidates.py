"""Plans of a part of a graph, of which the fastest, or the one that reads least, is taken."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.sw.branches.shares import Share, share_with
from celosia.sw.compiler.choose import choices_by_rows
from celosia.sw.ir.graph import Graph
from celosia.sw.planning.choices import Choices
from celosia.sw.planning.decisions.decide_graph import decide_graph
from celosia.sw.planning.forms.plan import Plan, RingPlan
from celosia.sw.planning.forms.stages import LinearStage
from celosia.sw.planning.rules.verify import machine_of, verify_plan

__all__ = ["candidates"]

_SIZES: Final = ((4, 4), (8, 4))
"""Rows of a block and tiles along K of a piece, in tiles: taller blocks load weights less often,
and hide less of other work.  Measured: with (8, 2), too, `decode-deep` takes 1.8 % longer."""


def candidates(part: Graph, share: AcceleratorConfig) -> list[Plan]:
    """Plans of a `part` of a graph in a share of the memories, none twice.

    Beside other branches, they may have blocks of sums as large as the accumulator's share: while
    one is drained, the array has the products of somebody else.  Raises `ValueError` if nothing
    fits.
    """
    chosen = choices_by_rows(part, share)
    found: dict[str, Plan] = {}
    for block, piece in _SIZES:
        choices = replace(chosen, block_tiles=block, piece_tiles=piece)
        plans = [decide_graph(part, share, choices)]
        if isinstance(share, Share):
            plans += _undivided(part, share, choices)
        for plan in plans:
            found.setdefault(repr((plan.stages, plan.rings)), plan)
    return list(found.values())


def _undivided(part: Graph, share: Share, choices: Choices) -> Iterator[Plan]:
    """The plan whose blocks of sums have all of the accumulator's share in turn, if it is legal."""
    with suppress(ValueError):
        twice = share_with(share, accumulator_kib=2 * share.accumulator_kib)
        plan = decide_graph(part, twice, choices)
        if all(isinstance(stage, LinearStage) for stage in plan.stages):
            rings = {name: _once(ring) for name, ring in plan.rings.items()}
            plan = replace(plan, machine=machine_of(share), rings=rings)
            yield verify_plan(plan, part, share)


def _once(ring: RingPlan) -> RingPlan:
    """A ring of the accumulator with the first of its two halves."""
    return replace(ring, spans=ring.spans[:1]) if ring.space == "accumulator" else ring
