"""Primitives that cut: blocks of a stage, and the pieces that its operands are moved in."""

from collections.abc import Callable
from dataclasses import replace

from celosia.isa.config import AcceleratorConfig
from celosia.sw.ir.graph import Combination, Graph, LayerNorm, Op
from celosia.sw.planning.forms.plan import Plan, ProductStage, Stage
from celosia.sw.planning.forms.stages import (
    AttentionStage,
    CombineStage,
    ConcurrentStage,
    HeadGroup,
    LinearStage,
    NormStage,
    PiecesOfW,
)
from celosia.sw.planning.rules.verify import PlanError
from celosia.sw.planning.schedules.primitives import Split, Tensorize, Tile
from celosia.sw.planning.schedules.rings import stage_of, with_stage

__all__ = ["split", "tensorize", "tile"]


def tensorize(plan: Plan, step: Tensorize, graph: Graph, config: AcceleratorConfig) -> Plan:
    """`plan` with blocks of whole multiples of the array's rows."""
    if step.times < 1:
        raise PlanError("tensorize-times", step.op, f"{step.times} is less than 1")
    return split(plan, Split(op=step.op, rows=(step.times * plan.machine.dim,)), graph, config)


def split(plan: Plan, step: Split, graph: Graph, _config: AcceleratorConfig) -> Plan:
    """`plan` with other blocks in a stage."""
    index = stage_of(plan, step.op)
    stage, ops = plan.stages[index], {op.name: op for op in graph.ops}
    for name in ("rows", "tiles", "keys", "tail"):
        if getattr(step, name):
            stage = _CUTS[name](stage, getattr(step, name), ops, plan.machine.dim)
    if step.tail == ():
        stage = _tail(stage, (), ops, plan.machine.dim)
    return with_stage(plan, index, stage)


Sizes = tuple[int, ...]
Ops = dict[str, Op]


def _rows(stage: Stage, sizes: Sizes, ops: Ops, _dim: int) -> Stage:
    match stage:
        case AttentionStage():

            def cut(group: HeadGroup) -> HeadGroup:
                rows = _height(ops[group.heads[0][0]])
                return replace(group, rows=repeated(sizes, rows, "rows", stage))

            return replace(stage, groups=tuple(map(cut, stage.groups)))
        case LinearStage():
            rows = repeated(sizes, _height(ops[stage.op]), "rows", stage)
            return replace(stage, rows=rows, tail=())
        case ConcurrentStage():
            raise _none(stage, "rows of its own")
        case _:
            return replace(stage, rows=repeated(sizes, sum(stage.rows), "rows", stage))


def _tiles(stage: Stage, sizes: Sizes, _ops: Ops, _dim: int) -> Stage:
    if not isinstance(stage, ProductStage | LinearStage):
        raise _none(stage, "blocks of columns")
    tiles = repeated(sizes, sum(stage.tiles), "tiles", stage)
    if isinstance(stage, ProductStage) and sum(stage.tail) != tiles[-1]:
        return replace(stage, tiles=tiles, tail=())
    return replace(stage, tiles=tiles)


def _keys(stage: Stage, sizes: Sizes, ops: Ops, _dim: int) -> Stage:
    if not isinstance(stage, AttentionStage):
        raise _none(stage, "keys")

    def cut(group: HeadGroup) -> HeadGroup:
        keys = _width(ops[group.heads[0][0]])
        return replace(group, keys=repeated(sizes, keys, "keys", stage))

    return replace(stage, groups=tuple(map(cut, stage.groups)))


def _tail(stage: Stage, sizes: Sizes, _ops: Ops, _dim: int) -> Stage:
    if not isinstance(stage, ProductStage):
        raise _none(stage, "parts of the last block")
    return replace(stage, tail=sizes)


_CUTS: dict[str, Callable[[Stage, Sizes, Ops, int], Stage]] = {
    "rows": _rows,
    "tiles": _tiles,
    "keys": _keys,
    "tail": _tail,
}


def tile(plan: Plan, step: Tile, _graph: Graph, _config: AcceleratorConfig) -> Plan:
    """`plan` with other pieces in a stage."""
    index = stage_of(plan, step.op)
    stage = plan.stages[index]
    match stage:
        case ProductStage():
            tiled = _tiled_product(stage, step)
        case LinearStage(w=PiecesOfW() as w) if not (step.a or step.first):
            drain = replace(stage.drain, tiles=step.drain or stage.drain.tiles)
            tiled = replace(stage, w=_tiled(w, step), drain=drain)
        case AttentionStage() if not (step.a or step.first):
            tiled = replace(stage, groups=tuple(_tiled_group(g, step) for g in stage.groups))
        case LinearStage() if step == Tile(op=step.op, drain=step.drain):
            tiled = replace(stage, drain=replace(stage.drain, tiles=step.drain))
        case NormStage() if step == Tile(op=step.op, drain=step.drain):
            tiled = replace(stage, norm=replace(stage.norm, tiles=step.drain))
        case CombineStage() if step == Tile(op=step.op, drain=step.drain):
            tiled = replace(stage, tiles=step.drain)
        case _:
            raise _none(stage, "such pieces")
    return with_stage(plan, index, tiled)


def _tiled_product(stage: ProductStage, step: Tile) -> ProductStage:
    a = replace(
        stage.a,
        tiles=step.a or stage.a.tiles,
        first=step.first or min(stage.a.first, step.a or stage.a.tiles),
    )
    b = replace(
        stage.b,
        k_tiles=step.k or stage.b.k_tiles,
        n_tiles=step.columns or stage.b.n_tiles,
    )
    drain = replace(stage.drain, tiles=step.drain or stage.drain.tiles)
    return replace(stage, a=a, b=b, drain=drain)


def _tiled_group(group: HeadGroup, step: Tile) -> HeadGroup:
    drain = replace(group.drain, tiles=step.drain or group.drain.tiles)
    return replace(group, k=_tiled(group.k, step), v=_tiled(group.v, step), drain=drain)


def _tiled(w: PiecesOfW, step: Tile) -> PiecesOfW:
    return replace(w, k_tiles=step.k or w.k_tiles, columns=step.columns or w.columns)


def repeated(sizes: Sizes, extent: int, name: str, stage: Stage) -> Sizes:
    """`sizes`, the last of which repeats until `extent` is covered; what is over is cut off.

    Raises `PlanError` if they are no sizes, or the last one has nothing left to cover.
    """
    *before, last = sizes
    left = extent - sum(before)
    if min(sizes) < 1 or left < 1:
        text = f"{name} {sizes} do not cut {extent}"
        raise PlanError("split-sizes", f"stage {stage.ops[0]}", text)
    rest = left % last
    return (*before, *[last] * (left // last), *([rest] if rest else []))


def _height(op: Op) -> int:
    return op.source.rows if isinstance(op, LayerNorm) else op.out.rows


def _width(op: Op) -> int:
    assert not isinstance(op, LayerNorm | Combination)
    return op.out.cols


def _none(stage: Stage, what: str) -> PlanError:
    return PlanError("step-kind", f"stage {stage.ops[0]}", f"a {stage.kind} has no {what}")
