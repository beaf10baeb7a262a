"""The plans that a schedule begins with: the compiler's own, and one without any decision."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sw.compiler.pipeline import find_plan
from celosia.sw.ir.graph import Graph
from celosia.sw.planning.choices import Choices
from celosia.sw.planning.decisions.decide import only_product
from celosia.sw.planning.decisions.decide_graph import decide_graph
from celosia.sw.planning.forms.plan import Plan
from celosia.sw.planning.forms.stages import AttentionStage, LinearStage
from celosia.sw.planning.rules.verify import PlanError, verify_plan
from celosia.sw.planning.schedules.apply import applied, apply_steps
from celosia.sw.planning.schedules.plain import plain_product
from celosia.sw.planning.schedules.primitives import (
    Defer,
    DoubleBuffer,
    Fuse,
    Keep,
    Primitive,
    ScheduleFile,
    Tile,
)

__all__ = ["plain_plan", "scheduled_plan"]

_SIMPLEST: Final = Choices(
    scores_in_memory=False,
    block_tiles=1,
    piece_tiles=1,
    fused_norms=False,
    whole_scores=False,
    overlap=False,
)


def plain_plan(graph: Graph, config: AcceleratorConfig) -> Plan:
    """A legal plan that decides as little as it can: it is correct and slow.

    A product alone is computed row by row and tile by tile.  In other graphs, blocks are as tall as
    the array.  One piece of each kind is on the chip at a time, nothing stays there for another
    block, and nothing that is finished waits.

    Raises `ValueError` that names the operator for what the accelerator cannot do.
    """
    with suppress(PlanError):
        return plain_product(only_product(graph), graph, config)
    plan = decide_graph(graph, config, _SIMPLEST)
    for step in _simpler(plan):
        with suppress(PlanError):  # Too little memory for that, or nothing to cut.
            plan = verify_plan(applied(plan, step, graph, config), graph, config)
    return plan


def scheduled_plan(
    schedule: ScheduleFile,
    graph: Graph,
    config: AcceleratorConfig,
    timing: MemoryTiming | None = None,
) -> Plan:
    """The plan of a schedule.

    Raises `PlanError` that names the step and the rule that it breaks, and `ValueError` that names
    the operator for what the accelerator cannot do.
    """
    compilers = schedule.start == "compiler"
    start = find_plan(graph, config, timing) if compilers else plain_plan(graph, config)
    return apply_steps(start, schedule.steps, graph, config)


def _simpler(plan: Plan) -> Iterator[Primitive]:
    """What takes decisions out of a plan of a graph."""
    yield Defer(on=False)
    for stage in plan.stages:
        op = stage.ops[0]
        match stage:
            case AttentionStage():
                yield Fuse(op=op, what="softmax", together=False)
                yield Defer(op=op, on=False)
                yield DoubleBuffer(op=op, what="turns", pieces=1)
                yield Keep(op=op, what="keys", on_chip=False)
                yield Keep(op=op, what="values", on_chip=False)
                yield Tile(op=op, k=1, columns=1, drain=1)
                yield DoubleBuffer(op=op, what="contexts", pieces=1)
            case LinearStage() if stage.w.ring:
                yield Tile(op=op, k=1, columns=1)
                yield DoubleBuffer(op=op, what="sums", pieces=1)
            case _:
                pass
