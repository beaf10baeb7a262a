"""What is decided for a graph, and what each alternative would cost by predicted cycles."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.documents.record import Named
from celosia.isa.memory import MemoryTiming
from celosia.sw.compiler.choose import GAIN, choose
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.compiler.passes import predict
from celosia.sw.compiler.pipeline import Decide, find_plan
from celosia.sw.compiler.probe import probe_graph, product_tiles
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.ir.graph import Graph
from celosia.sw.planning.choices import Choices
from celosia.sw.planning.cost import predict_stage
from celosia.sw.planning.decisions.decide import only_product
from celosia.sw.planning.forms.plan import Plan, RejectedTactic, Tactic, only_stage
from celosia.sw.planning.forms.stages import LinearStage
from celosia.sw.planning.search import product_plans
from celosia.sw.timeline.graphs import GraphCycles

__all__ = ["GraphPlan", "Planned", "Rejected", "plan_graph", "plan_product"]

COMPARED_TILES: Final = 4_096
"""The most products of tiles of a graph whose alternatives are compared on the graph itself; those
of a larger one are compared on the probe, and scaled."""


@dataclass(frozen=True)
class Rejected:
    """An alternative to one choice, with all others as chosen."""

    name: Annotated[str, Named("choice")]
    """What could be chosen otherwise."""
    value: str
    """What was not chosen."""
    cycles: Annotated[int | None, Named("predicted_cycles")]
    """Predicted; null: it is not possible."""
    reason: str = ""
    """Why it is not possible, or why it was not taken though less is predicted; else empty."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Planned:
    """What is decided for a graph."""

    plan: Plan
    cycles: int
    chosen: Mapping[str, str]
    """The value of each choice."""
    rejected: tuple[Rejected, ...]

    @property
    def recorded(self) -> Plan:
        """The plan, with the tactics that led to it."""
        return replace(self.plan, tactics=_tactics(self.chosen, self.cycles, self.rejected))


@dataclass(frozen=True, eq=False, kw_only=True)
class GraphPlan(Planned):
    """What is decided for a graph by choices."""

    choices: Choices
    compiled: CompiledGraph
    prediction: GraphCycles
    scaled: bool
    """Alternatives were compared on a part of the graph."""


def plan_graph(
    graph: Graph, config: AcceleratorConfig, timing: MemoryTiming | None = None
) -> GraphPlan:
    """The plan for `graph`.  Raises `ValueError` for what cannot be done."""
    known = dict[Hashable, GraphCycles]()
    choices = choose(graph, config, timing, known)
    compiled = compile_graph(graph, config, Decide(choices))
    prediction = compiled.expected(timing)
    scaled = product_tiles(graph, config) > COMPARED_TILES
    part, known = (probe_graph(graph, config), {}) if scaled else (graph, known)
    base = cycles_or_reason(part, config, timing, choices, known) if scaled else prediction.cycles
    rejected = []
    for name, value, others in choices.others():
        found = cycles_or_reason(part, config, timing, others, known)
        if isinstance(found, str):
            rejected.append(Rejected(name, _text(value), None, found))
        else:
            assert isinstance(base, int)
            cycles = found * prediction.cycles // base
            reason = _why_not(cycles, prediction.cycles)
            rejected.append(Rejected(name, _text(value), cycles, reason))
    return GraphPlan(
        plan=compiled.plan,
        cycles=prediction.cycles,
        chosen={name: _text(value) for name, value in choices.items()},
        rejected=tuple(rejected),
        choices=choices,
        compiled=compiled,
        prediction=prediction,
        scaled=scaled,
    )


def cycles_or_reason(
    graph: Graph,
    config: AcceleratorConfig,
    timing: MemoryTiming | None,
    choices: Choices,
    known: dict[Hashable, GraphCycles],
) -> int | str:
    """The predicted cycles, or why it is not possible; `known` is `predict`'s."""
    try:
        return predict(graph, config, choices, timing, known).cycles
    except ValueError as error:
        return str(error)


def _why_not(cycles: int, chosen: int) -> str:
    """Why what is predicted to take `cycles` was not taken; empty if it is no better."""
    if cycles >= chosen:
        return ""
    if cycles > chosen * (1 - GAIN):
        return f"saves less than {GAIN:.0%}"
    return "decided by a rule, or on a part of the graph"


def plan_product(
    graph: Graph, config: AcceleratorConfig, timing: MemoryTiming | None = None
) -> Planned:
    """The plan for a product: for each other value of a choice, the cheapest plan with it.

    Raises `PlanError`, a `ValueError`, for what cannot be planned.
    """
    op, chosen = only_product(graph), find_plan(graph, config, timing)
    considered = [
        (predict_stage(op, graph, config, only_stage(plan), timing).cycles, plan)
        for plan in product_plans(op, graph, config)
    ]
    rejected = []
    for name, value_of in _PRODUCT_CHOICES.items():
        for value in dict.fromkeys(value_of(only_stage(plan)) for _, plan in considered):
            if value != value_of(only_stage(chosen)):
                alike = (each for each in considered if value_of(only_stage(each[1])) == value)
                _, best = min(alike, key=lambda each: each[0])
                cycles = predict(graph, config, best, timing).cycles
                rejected.append(Rejected(name, value, cycles))
    return Planned(
        plan=chosen,
        cycles=predict(graph, config, chosen, timing).cycles,
        chosen={name: value_of(only_stage(chosen)) for name, value_of in _PRODUCT_CHOICES.items()},
        rejected=tuple(rejected),
    )


_PRODUCT_CHOICES: Final[Mapping[str, Callable[[LinearStage], str]]] = {
    "block_rows": lambda stage: str(max(stage.rows)),
    "block_tiles": lambda stage: str(max(stage.tiles)),
    "outer": lambda stage: stage.outer,
    "a": lambda stage: "kept" if stage.a.keep else "streamed",
    "b": lambda stage: "kept" if stage.w.keep else "streamed",
    "first_a_tiles": lambda stage: str(stage.a.first),
    "last_block": lambda stage: "in parts" if stage.parts else "at once",
}


def _tactics(
    chosen: Mapping[str, str], cycles: int, rejected: Sequence[Rejected]
) -> tuple[Tactic, ...]:
    """Each choice with its alternatives."""
    return tuple(
        Tactic(
            name=name,
            value=value,
            cycles=cycles,
            rejected=tuple(
                RejectedTactic(value=each.value, cycles=each.cycles or 0, reason=each.reason)
                for each in rejected
                if each.name == name
            ),
        )
        for name, value in chosen.items()
    )


def _text(value: int | bool) -> str:
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)
