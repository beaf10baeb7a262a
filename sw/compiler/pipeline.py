"""The compiler's table of contents: from a graph to commands, pass by pass."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sw.compiler.choose import choose
from celosia.sw.compiler.collection import uncollected
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.compiler.passes import (
    Check,
    Compress,
    Encode,
    Expand,
    Pass,
    Schedule,
    planned,
    predict,
)
from celosia.sw.compiler.refine import refine
from celosia.sw.ir.graph import Graph
from celosia.sw.planning.choices import DEFAULT, Choices
from celosia.sw.planning.decisions.decide import ranked
from celosia.sw.planning.forms.plan import Plan, only_stage
from celosia.sw.planning.rules.verify import PlanError, machine_of

__all__ = ["PASSES", "Decide", "find_plan", "passes"]


def find_plan(graph: Graph, config: AcceleratorConfig, timing: MemoryTiming | None = None) -> Plan:
    """The plan that is expected to be fastest for a verified `graph`, of those that are compared.

    One of a product alone is cut by the search of these; where transforms finish it, there also are
    the cuts of other graphs.  Raises `ValueError` that names the operator for what the accelerator
    cannot do.
    """
    found: list[Plan] = []
    with suppress(PlanError):
        found.append(refine(ranked(graph, config, timing), graph, config, timing))
        if only_stage(found[0]).drain.by == "mvout":
            return found[0]
    found.append(planned(graph, config, choose(graph, config, timing)))
    if len(found) == 1:
        return found[0]
    return min(found, key=lambda plan: predict(graph, config, plan, timing).cycles)


@dataclass(frozen=True)
class Decide(Pass):
    """How the graph is cut, in which order, and where pieces stand."""

    name = "plan"
    leaves = "plan"
    plan: Plan | Choices | None = None
    """A plan, or choices that decide one; None: what is expected to be fastest on the memory, or
    the default choices, if there is none."""

    def apply(self, compiled: CompiledGraph) -> CompiledGraph:
        """Raises `ValueError` as `planned` and `find_plan` do."""
        graph, config, timing = compiled.graph, compiled.config, compiled.timing
        if self.plan is None and timing is not None:
            plan = find_plan(graph, config, timing)
        else:
            plan = planned(graph, config, self.plan or DEFAULT)
        return replace(compiled, plan=plan)


PASSES: Final[tuple[Pass, ...]] = (Check(), Decide(), Expand(), Schedule(), Encode(), Compress())
"""All passes in order, with the arguments that they have if no others are given."""


def passes(
    graph: Graph, config: AcceleratorConfig, *how: Pass, timing: MemoryTiming | None = None
) -> Iterator[tuple[Pass, CompiledGraph]]:
    """Each pass, and what it leaves behind; those of `how` take the places of their namesakes.

    Programs are not verified; whoever compiles to use them takes
    `celosia.sw.compiler.verified.compile_graph`.  Raises what that does.
    """
    given = {each.name: each for each in how}
    nothing = Plan(graph=graph.name, machine=machine_of(config), rings={}, stages=())
    compiled = CompiledGraph(graph=graph, config=config, timing=timing, plan=nothing)
    for default in PASSES:
        each = given.get(default.name, default)
        with uncollected():
            compiled = each.apply(compiled)
        yield each, compiled
