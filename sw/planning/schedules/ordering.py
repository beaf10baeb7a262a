"""Primitives of order: of loops and operators, of what is computed together, of what may wait."""

from dataclasses import replace

from celosia.isa.config import AcceleratorConfig
from celosia.sw.ir.graph import Graph, MatMul, Op, Softmax, Transform
from celosia.sw.planning.extents import even_sizes, tiles
from celosia.sw.planning.forms.plan import Plan, Stage
from celosia.sw.planning.forms.stages import AttentionStage, HeadGroup, LinearStage, NormStage
from celosia.sw.planning.rules.verify import PlanError
from celosia.sw.planning.schedules.primitives import Defer, Fuse, Reorder
from celosia.sw.planning.schedules.rings import stage_of, with_stage

__all__ = ["defer", "fuse", "reorder"]


def reorder(plan: Plan, step: Reorder, _graph: Graph, _config: AcceleratorConfig) -> Plan:
    """`plan` with another loop outermost in a stage, or with a stage in another place."""
    index = stage_of(plan, step.op)
    stage = plan.stages[index]
    if step.outer:
        if not isinstance(stage, LinearStage):
            text = f"blocks of rows are always outermost in a {stage.kind}"
            raise PlanError("reorder-kind", f"stage {step.op}", text)
        plan = with_stage(plan, index, replace(stage, outer=step.outer))
    if not step.before:
        return plan
    place, rest = stage_of(plan, step.before), list(plan.stages)
    moved = rest.pop(index)
    rest.insert(place - (index < place), moved)
    return replace(plan, stages=tuple(rest))


def fuse(plan: Plan, step: Fuse, graph: Graph, _config: AcceleratorConfig) -> Plan:
    """`plan` with softmax or a norm computed together with the sums that it needs, or apart."""
    index, ops = stage_of(plan, step.op), {op.name: op for op in graph.ops}
    stage = plan.stages[index]
    match stage, step.what:
        case AttentionStage(), "softmax":
            dim = plan.machine.dim
            groups = tuple(_whole_keys(each, ops, step, dim) for each in stage.groups)
            return with_stage(plan, index, replace(stage, groups=groups))
        case LinearStage(), "softmax" if _is_softmax(ops[stage.op]):
            across = sum(stage.tiles)
            cut = (across,) if step.together else (1,) * across
            return with_stage(plan, index, replace(stage, tiles=cut))
        case LinearStage(), "norm":
            return _norm(plan, index, stage, together=step.together)
        case _:
            text = f"no {step.what} in a {stage.kind} is fused or not"
            raise PlanError("fuse-kind", f"stage {step.op}", text)


def _is_softmax(op: Op) -> bool:
    return isinstance(op, MatMul | Transform) and isinstance(op.finish, Softmax)


def _whole_keys(group: HeadGroup, ops: dict[str, Op], step: Fuse, dim: int) -> HeadGroup:
    """All keys at once, or two parts that are nearly equal."""
    scores = ops[group.heads[0][0]]
    assert isinstance(scores, MatMul)
    keys = scores.out.cols
    if step.together:
        return replace(group, keys=(keys,))
    if keys <= dim:
        text = f"{keys} keys are one tile, which stays whole"
        raise PlanError("fuse-keys", f"stage {step.op}", text)
    most = dim * tiles(tiles(keys, dim), 2)
    return replace(group, keys=even_sizes(keys, most, dim))


def _norm(plan: Plan, index: int, stage: LinearStage, *, together: bool) -> Plan:
    """The norm behind a stage of sums as part of it, or as a stage of its own."""
    before, after = plan.stages[:index], plan.stages[index + 1 :]
    place = f"stage {stage.op}"
    if together:
        if stage.norm is not None:
            raise PlanError("fuse-norm", place, "its norm is part of it already")
        if not after or not isinstance(after[0], NormStage):
            raise PlanError("fuse-norm", place, "no norm is computed right behind it")
        norm = after[0]
        joined = replace(stage, norm=norm.norm, slots=norm.slots)
        return replace(plan, stages=(*before, joined, *after[1:]))
    if stage.norm is None:
        raise PlanError("fuse-norm", place, "no norm is part of it")
    alone = NormStage(rows=stage.rows, norm=stage.norm, slots=stage.slots)
    apart: tuple[Stage, ...] = (replace(stage, norm=None, slots="", tail=()), alone)
    return replace(plan, stages=(*before, *apart, *after))


def defer(plan: Plan, step: Defer, _graph: Graph, _config: AcceleratorConfig) -> Plan:
    """`plan` with results that leave behind the products that follow, or before them."""
    if not step.op:
        return replace(plan, defer=step.on)
    index = stage_of(plan, step.op)
    stage = plan.stages[index]
    if not isinstance(stage, AttentionStage):
        text = f"{stage.kind} stages have nothing of their own to defer: leave out op"
        raise PlanError("defer-kind", f"stage {step.op}", text)
    return with_stage(plan, index, replace(stage, ahead=1 if step.on else 0))
