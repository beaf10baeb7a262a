"""A plan to a program in order of meaning: correct, and no faster than one operation at a time."""

from collections.abc import Iterator

from celosia.sw.ir.graph import Graph, MatMul
from celosia.sw.ir.program import Op
from celosia.sw.lowering.writer import Written
from celosia.sw.planning.plan import Plan
from celosia.sw.scheduling.pieces import Pieces
from celosia.sw.scheduling.product import expand_product

__all__ = ["expand"]


def expand(plan: Plan, graph: Graph) -> tuple[Written, ...]:
    """All operations of a `plan` that is legal for `graph`, each with its operator."""
    return tuple(Written(op, operator) for operator, op in _ops(plan, graph))


def _ops(plan: Plan, graph: Graph) -> Iterator[tuple[str, Op]]:
    rings = {name: Pieces(ring) for name, ring in plan.rings.items()}
    known = {op.name: op for op in graph.ops}
    for stage in plan.stages:
        op = known[stage.op]
        assert isinstance(op, MatMul)
        for each in expand_product(stage, op, graph, plan, rings):
            yield op.name, each
