"""Primitives that cut: blocks of a stage, and the pieces that its operands are moved in."""

from dataclasses import replace
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.sw.ir.graph import Graph
from celosia.sw.planning.forms.plan import Plan, Stage
from celosia.sw.planning.forms.stages import LinearStage
from celosia.sw.planning.rules.verify import PlanError
from celosia.sw.planning.schedules.primitives import Split, Tensorize, Tile
from celosia.sw.planning.schedules.rings import stage_of, with_stage
from celosia.sw.planning.schedules.roles import FIELDS, field_of, with_field

__all__ = ["split", "tensorize", "tile"]

_CUTS: Final = {
    "rows": "rows of its own",
    "tiles": "blocks of columns",
    "keys": "keys",
    "tail": "parts of the last block",
}
"""What is cut, and what a stage lacks that has none of it."""
_PIECES: Final = ("k", "columns", "a", "first", "drain")


def tensorize(plan: Plan, step: Tensorize, graph: Graph, config: AcceleratorConfig) -> Plan:
    """`plan` with blocks of whole multiples of the array's rows."""
    if step.times < 1:
        raise PlanError("tensorize-times", step.op, f"{step.times} is less than 1")
    return split(plan, Split(op=step.op, rows=(step.times * plan.machine.dim,)), graph, config)


def split(plan: Plan, step: Split, _graph: Graph, _config: AcceleratorConfig) -> Plan:
    """`plan` with other blocks in a stage."""
    index = stage_of(plan, step.op)
    stage = plan.stages[index]
    for name in _CUTS:
        sizes = getattr(step, name)
        if sizes or (name == "tail" and sizes is not None):
            stage = _cut(stage, name, sizes)
    return with_stage(plan, index, stage)


Sizes = tuple[int, ...]


def _cut(stage: Stage, name: str, sizes: Sizes) -> Stage:
    """`stage` with an extent cut into `sizes`; a tail that is none any more goes."""
    cuts = FIELDS[type(stage)].cuts
    if name not in cuts:
        raise _none(stage, _CUTS[name])
    if name == "tail":
        return with_field(stage, cuts[name], lambda _: sizes)
    cut: Stage = with_field(stage, cuts[name], lambda old: repeated(sizes, sum(old), name, stage))
    if not isinstance(cut, LinearStage):
        return cut
    tail = () if name == "rows" else cut.tail
    return replace(cut, tail=tail, parts=cut.parts if sum(cut.parts) == cut.tiles[-1] else ())


def tile(plan: Plan, step: Tile, _graph: Graph, _config: AcceleratorConfig) -> Plan:
    """`plan` with other pieces in a stage."""
    index = stage_of(plan, step.op)
    stage = plan.stages[index]
    for name in _PIECES:
        size = getattr(step, name)
        if not size:
            continue
        paths = FIELDS[type(stage)].pieces.get(name, ())
        if not paths or field_of(stage, paths[0]) is None:
            raise _none(stage, "such pieces")
        for path in paths:
            stage = with_field(stage, path, lambda _, size=size: size)
    if isinstance(stage, LinearStage) and step.a and not step.first:
        first = min(stage.a.first, stage.a.tiles)
        stage = replace(stage, a=replace(stage.a, first=first))
    return with_stage(plan, index, stage)


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


def _none(stage: Stage, what: str) -> PlanError:
    return PlanError("step-kind", f"stage {stage.ops[0]}", f"{stage.kind} stages have no {what}")
