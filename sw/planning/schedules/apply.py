"""Schedules applied: each primitive is a function from a legal plan to a legal plan."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from celosia.isa.config import AcceleratorConfig
from celosia.sw.ir.graph import Graph
from celosia.sw.planning.forms.plan import Plan
from celosia.sw.planning.rules.verify import PlanError, verify_plan
from celosia.sw.planning.schedules.cutting import split, tensorize, tile
from celosia.sw.planning.schedules.ordering import defer, fuse, reorder
from celosia.sw.planning.schedules.placing import double_buffer, keep, place
from celosia.sw.planning.schedules.primitives import (
    Defer,
    DoubleBuffer,
    Fuse,
    Keep,
    Place,
    Primitive,
    Reorder,
    Split,
    Tensorize,
    Tile,
)

__all__ = ["applied", "apply_steps"]

_FUNCTIONS: Final[Mapping[type, Any]] = {
    Tensorize: tensorize,
    Split: split,
    Tile: tile,
    Reorder: reorder,
    Keep: keep,
    Fuse: fuse,
    DoubleBuffer: double_buffer,
    Place: place,
    Defer: defer,
}
"""What each primitive does to a plan; all take plan, step, graph and configuration."""


def applied(plan: Plan, step: Primitive, graph: Graph, config: AcceleratorConfig) -> Plan:
    """What a primitive makes of `plan`, verified by nobody yet.

    Raises `PlanError` where the stage has nothing that the primitive could change.
    """
    return _FUNCTIONS[type(step)](plan, step, graph, config)


def apply_steps(
    plan: Plan, steps: Iterable[Primitive], graph: Graph, config: AcceleratorConfig
) -> Plan:
    """`plan`, which is legal for `graph`, after all `steps`; each of them leaves a legal one.

    Raises `PlanError` that names the step and the rule that it breaks.
    """
    for number, step in enumerate(steps, 1):
        try:
            plan = verify_plan(applied(plan, step, graph, config), graph, config)
        except PlanError as error:
            where = f"step {number}, {step.kind}: {error.place}"
            raise PlanError(error.rule, where, error.text) from None
    return plan
