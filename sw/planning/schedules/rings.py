"""Rings that a primitive changes: for one stage alone, whoever else has used them."""

from collections import Counter
from dataclasses import replace

from celosia.sw.planning.extents import side_by_side
from celosia.sw.planning.forms.names import names_in
from celosia.sw.planning.forms.plan import Plan, RingPlan, Stage
from celosia.sw.planning.rules.verify import PlanError
from celosia.sw.planning.schedules.roles import rings_of, with_rings

__all__ = ["buffered", "names_of_role", "stage_of", "with_own_rings", "with_stage", "without_idle"]


def stage_of(plan: Plan, op: str) -> int:
    """The number of the stage that computes `op`.  Raises `PlanError` if none does."""
    for index, stage in enumerate(plan.stages):
        if op in stage.ops:
            return index
    known = ", ".join(stage.ops[0] for stage in plan.stages)
    raise PlanError("step-stage", op, f"no stage computes it; stages begin with {known}")


def names_of_role(stage: Stage, role: str) -> tuple[str, ...]:
    """The rings of `stage` in a role.  Raises `PlanError` if it has none."""
    rings = rings_of(stage)
    if role not in rings:
        text = f"it has no ring for {role!r}, but for {', '.join(rings)}"
        raise PlanError("step-role", f"stage {stage.ops[0]}", text)
    return rings[role]


def with_stage(plan: Plan, index: int, stage: Stage) -> Plan:
    """`plan` with another stage in a place."""
    return replace(plan, stages=(*plan.stages[:index], stage, *plan.stages[index + 1 :]))


def with_own_rings(plan: Plan, index: int, role: str, rings: tuple[RingPlan, ...]) -> Plan:
    """`plan` with other `rings` in a role of a stage, under names that no other stage uses."""
    stage = plan.stages[index]
    before = names_of_role(stage, role)
    used = Counter(name for each in plan.stages for name in names_in(each))
    mine = Counter(before)
    names = []
    for turn in range(len(rings)):
        name = before[min(turn, len(before) - 1)]
        if used[name] > mine[name] or name in names:
            name = f"{name} of {stage.ops[0]}" + (f" {turn + 1}" if turn else "")
        names.append(name)
    known = {**plan.rings, **dict(zip(names, rings, strict=True))}
    changed = with_rings(stage, role, tuple(names))
    return without_idle(with_stage(replace(plan, rings=known), index, changed))


def buffered(ring: RingPlan, pieces: int, place: str) -> RingPlan:
    """The rows of `ring` for so many pieces at once; 0: as many as fit.

    Raises `PlanError` if its spans are not side by side, or too short.
    """
    spans = sorted(ring.spans)
    first, total = spans[0][0], sum(rows for _, rows in spans)
    if first + total != sum(spans[-1]):
        raise PlanError("buffer-area", place, f"spans {ring.spans} are not side by side")
    if pieces < 0 or pieces > total:
        raise PlanError("buffer-pieces", place, f"{pieces} pieces in {total} rows")
    if pieces == 0:
        return replace(ring, spans=((first, total),), step=1)
    rows = total // pieces
    return replace(ring, spans=side_by_side(first, rows, pieces), step=rows)


def without_idle(plan: Plan) -> Plan:
    """`plan` without the rings that no stage names."""
    used = {name for stage in plan.stages for name in names_in(stage)}
    return replace(plan, rings={name: ring for name, ring in plan.rings.items() if name in used})
