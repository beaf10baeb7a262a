"""Primitives of memories: which banks a ring has, how many pieces of its own, and what stays."""

from dataclasses import replace

from celosia.isa.config import AcceleratorConfig
from celosia.sw.ir.graph import Graph
from celosia.sw.planning.forms.plan import Plan, RingPlan
from celosia.sw.planning.forms.stages import AttentionStage, LinearStage
from celosia.sw.planning.rules.verify import PlanError
from celosia.sw.planning.schedules.primitives import DoubleBuffer, Keep, Place
from celosia.sw.planning.schedules.rings import (
    buffered,
    names_of_role,
    stage_of,
    with_own_rings,
    with_stage,
    without_idle,
)
from celosia.sw.planning.schedules.roles import TURNS, with_field, with_rings

__all__ = ["double_buffer", "keep", "place"]

_STREAM = "weights"
"""The ring that keys and values stream through if they do not stay."""


def double_buffer(
    plan: Plan, step: DoubleBuffer, _graph: Graph, _config: AcceleratorConfig
) -> Plan:
    """`plan` with other numbers of pieces that have rows of their own."""
    index = stage_of(plan, step.op)
    stage = plan.stages[index]
    if step.what == "turns":
        return _with_turns(plan, index, step.pieces)
    if step.what in TURNS:
        raise PlanError("buffer-turns", f"stage {step.op}", f"{step.what} have turns: say 'turns'")
    (name,) = names_of_role(stage, step.what)
    ring = buffered(plan.rings[name], step.pieces, f"ring {name}")
    return with_own_rings(plan, index, step.what, (ring,))


def _with_turns(plan: Plan, index: int, count: int) -> Plan:
    """Queries and numerators of so many parts of attention have rows of their own."""
    if count not in (1, 2):
        raise PlanError("buffer-turns", plan.stages[index].ops[0], f"{count} turns are not 1 or 2")
    for role in TURNS:
        names = names_of_role(plan.stages[index], role)
        rings = tuple(plan.rings[name] for name in names)
        if len(rings) < count:
            whole = rings[0]
            (first, rows), half = whole.spans[0], whole.least // 2
            spans = (first, half), (first + half, rows - half)
            steps = half if whole.step > 1 else 1
            rings = tuple(replace(whole, spans=(span,), step=steps) for span in spans)
        plan = with_own_rings(plan, index, role, rings[:count])
    return plan


def place(plan: Plan, step: Place, _graph: Graph, config: AcceleratorConfig) -> Plan:
    """`plan` with whole banks of the scratchpad for what a stage uses in a role."""
    index = stage_of(plan, step.op)
    (name, *_) = names_of_role(plan.stages[index], step.what)
    ring, count = plan.rings[name], config.scratchpad_banks
    if ring.space != "scratchpad":
        raise PlanError("place-space", f"ring {name}", f"it is in {ring.space}, which has no banks")
    if not step.banks or len(set(step.banks)) < len(step.banks) or max(step.banks) >= count:
        raise PlanError("place-banks", f"ring {name}", f"{step.banks} are not some of {count}")
    rows = config.scratchpad_bank_rows
    spans = tuple((bank * rows, rows) for bank in step.banks)
    return with_own_rings(plan, index, step.what, (RingPlan(space="scratchpad", spans=spans),))


def keep(plan: Plan, step: Keep, _graph: Graph, _config: AcceleratorConfig) -> Plan:
    """`plan` with pieces that stay for all that need them, or are loaded for each."""
    index = stage_of(plan, step.op)
    stage = plan.stages[index]
    match stage, step.what:
        case LinearStage(), "a" | "b":
            path = {"a": "a.keep", "b": "w.keep"}[step.what]
            kept = with_field(stage, path, lambda _: step.on_chip)
            return with_stage(plan, index, kept)
        case AttentionStage(), "keys" | "values":
            return _heads_kept(plan, index, stage, step)
        case _:
            text = f"{stage.kind} stages do not say whether {step.what} stay"
            raise PlanError("keep-kind", f"stage {step.op}", text)


def _heads_kept(plan: Plan, index: int, stage: AttentionStage, step: Keep) -> Plan:
    """Keys or values in a ring of their own, or in that of weights."""
    name = step.what if step.on_chip else _STREAM
    quarter = plan.machine.scratchpad_rows // 4
    spans = {
        "keys": ((0, quarter),),
        "values": ((3 * quarter, quarter // 2),),
        _STREAM: ((0, quarter // 2), (3 * quarter, quarter // 2)),
    }
    rings = {name: RingPlan(space="scratchpad", spans=spans[name]), **plan.rings}
    kept = with_rings(stage, step.what, (name,))
    return without_idle(with_stage(replace(plan, rings=rings), index, kept))
