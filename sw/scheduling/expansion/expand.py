"""A plan to a program in order of meaning: correct, and no faster than one operation at a time."""

from collections.abc import Iterator
from importlib import import_module

from celosia.sw.ir.graph import Graph, LayerNorm, MatMul, Transform
from celosia.sw.ir.graph import Op as GraphOp
from celosia.sw.ir.program import Op, Written
from celosia.sw.planning.forms.plan import Plan, Stage
from celosia.sw.planning.forms.spills import with_spills
from celosia.sw.planning.forms.stages import (
    AttentionStage,
    ConcurrentStage,
    LinearStage,
    RowsStage,
)
from celosia.sw.scheduling.expansion.beside import beside, may_stand_beside
from celosia.sw.scheduling.expansion.expand_attention import expand_attention
from celosia.sw.scheduling.expansion.expand_linear import expand_linear
from celosia.sw.scheduling.expansion.row_blocks import row_blocks
from celosia.sw.scheduling.moves import Moves
from celosia.sw.scheduling.pieces import open_rings
from celosia.sw.scheduling.waits import with_waits

__all__ = ["expand"]


def expand(plan: Plan, graph: Graph) -> tuple[Written, ...]:
    """All operations of a `plan` that is legal for `graph`, each with its operator."""
    return tuple(
        with_waits(
            [Written(op, operator) for operator, op in _ops(plan, graph)], moving=graph.moving
        )
    )


def _ops(plan: Plan, graph: Graph) -> Iterator[tuple[str, Op]]:
    moves = Moves(plan, with_spills(graph, plan), open_rings(plan))
    known = {op.name: op for op in graph.ops}
    following = [*plan.stages[1:], None]
    taken: Stage | None = None
    for stage, after in zip(plan.stages, following, strict=True):
        if stage is taken:
            continue
        if isinstance(after, LinearStage) and may_stand_beside(stage, after, known, plan):
            assert isinstance(stage, RowsStage)
            taken = after
            yield from beside(stage, after, known, moves)
        elif isinstance(stage, ConcurrentStage):
            branches = [
                [_of_stage(each, known, moves) for each in branch.stages]
                for branch in stage.branches
            ]
            yield from import_module("celosia.sw.branches.merge").merged(stage, branches)
        else:
            yield from _of_stage(stage, known, moves)


def _of_stage(stage: Stage, known: dict[str, GraphOp], moves: Moves) -> Iterator[tuple[str, Op]]:
    """The operations of a stage that is no branching, each with its operator."""
    match stage, [known[op] for op in stage.ops]:
        case AttentionStage(), members:
            products = {op.name: op for op in members if isinstance(op, MatMul)}
            yield from expand_attention(stage, products, moves)
            return
        case LinearStage(), [MatMul() | Transform() as op, *rest]:
            norm = next((each for each in rest if isinstance(each, LayerNorm)), None)
            ops = expand_linear(stage, op, norm, moves)
        case _, [op] if isinstance(stage, RowsStage):
            ops = (each for _, block in row_blocks(stage, op, moves) for each in block)
        case _:
            raise AssertionError(f"{stage}: the plan is not legal")
    for each in ops:
        yield stage.ops[0], each
