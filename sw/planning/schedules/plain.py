"""The plan of a product alone that decides nothing."""

from dataclasses import replace

from celosia.isa.config import AcceleratorConfig
from celosia.sw.ir.graph import Graph, MatMul
from celosia.sw.planning.finish import ProductFinish
from celosia.sw.planning.forms.plan import Plan, RingPlan
from celosia.sw.planning.forms.stages import LinearStage, PiecesOfA, PiecesOfW
from celosia.sw.planning.rules.common import SHARES
from celosia.sw.planning.rules.verify import machine_of, verify_plan

__all__ = ["plain_product"]


def plain_product(op: MatMul, graph: Graph, config: AcceleratorConfig) -> Plan:
    """One row, one tile, one piece of each operand.

    Raises `PlanError` for a finish that is more than a transform of each element.
    """
    finish = ProductFinish(op, graph, config)
    tiles, bank = -(-op.out.cols // config.dim), config.scratchpad_bank_rows
    stage = LinearStage(
        op=op.name,
        rows=(1,) * op.out.rows,
        tiles=(1,) * tiles,
        a=PiecesOfA(ring="a", tiles=1, first=1, keep=False),
        w=PiecesOfW(ring="b", k_tiles=1, columns=1, pieces=1, keep=False),
        sums="sums",
        drain=finish.drain(1, 1),
    )
    half, sums = config.scratchpad_banks // 2 * bank, config.accumulator_rows
    rest = config.scratchpad_rows - half - finish.rows
    rings = {
        "a": RingPlan(space="scratchpad", spans=((0, half),), step=half),
        "b": RingPlan(space="scratchpad", spans=((half, rest),), step=rest),
        "sums": RingPlan(space="accumulator", spans=((0, sums),), step=sums),
    }
    for name, ring in finish.rings.items():
        # A bias and scales stand beside each other, in three shares for two kinds.
        share = ring.least if finish.by_stores else ring.least // SHARES
        rings[name] = replace(ring, step=share)
    plan = Plan(
        graph=graph.name,
        machine=machine_of(config),
        defer=False,
        rings=rings,
        stages=(stage,),
    )
    return verify_plan(plan, graph, config)
