"""The plan of a product alone that decides nothing."""

from celosia.isa.config import AcceleratorConfig
from celosia.sw.ir.graph import Graph, MatMul, Requantize, Sums
from celosia.sw.planning.forms.plan import Plan, RingPlan
from celosia.sw.planning.forms.stages import LinearStage, PiecesOfA, PiecesOfW, SumsDrain
from celosia.sw.planning.rules.verify import PlanError, machine_of, verify_plan

__all__ = ["plain_product"]


def plain_product(op: MatMul, graph: Graph, config: AcceleratorConfig) -> Plan:
    """One row, one tile, one piece of each operand.  Raises `PlanError` if MVOUT is no finish."""
    if not isinstance(op.finish, Sums | Requantize):
        raise PlanError("kind", op.name, f"{op.finish} is not what MVOUT does")
    tiles, bank = -(-op.out.cols // config.dim), config.scratchpad_bank_rows
    stage = LinearStage(
        op=op.name,
        rows=(1,) * op.out.rows,
        tiles=(1,) * tiles,
        a=PiecesOfA(ring="a", tiles=1, first=1, keep=False),
        w=PiecesOfW(ring="b", k_tiles=1, columns=1, pieces=1, keep=False),
        sums="sums",
        drain=SumsDrain(by="mvout", tiles=1, parameters="" if op.bias is None else "bias"),
    )
    half, sums = config.scratchpad_banks // 2 * bank, config.accumulator_rows
    rest = config.scratchpad_rows - half
    rings = {
        "a": RingPlan(space="scratchpad", spans=((0, half),), step=half),
        "b": RingPlan(space="scratchpad", spans=((half, rest),), step=rest),
        "sums": RingPlan(space="accumulator", spans=((0, sums),), step=sums),
    }
    if op.bias is not None:
        rows = config.parameter_rows
        rings["bias"] = RingPlan(space="parameters", spans=((0, rows),), step=rows)
    plan = Plan(
        graph=graph.name,
        machine=machine_of(config),
        defer=False,
        rings=rings,
        stages=(stage,),
    )
    return verify_plan(plan, graph, config)
