"""What makes a plan legal.  Every rule has a name, which the message of its breach begins with."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, fields
from importlib import import_module
from itertools import chain, combinations
from typing import Any

from celosia.isa.config import AcceleratorConfig
from celosia.sw.ir.graph import (
    Combination,
    Graph,
    LayerNorm,
    MatMul,
    Op,
    Transform,
    View,
)
from celosia.sw.planning.forms.plan import Machine, Plan, Stage
from celosia.sw.planning.forms.stages import (
    AttentionStage,
    CombineStage,
    ConcurrentStage,
    LinearStage,
    NormStage,
)
from celosia.sw.planning.rules.attention import attention_rules
from celosia.sw.planning.rules.combine import combine_rules
from celosia.sw.planning.rules.common import Rule, StageRules
from celosia.sw.planning.rules.linear import linear_rules
from celosia.sw.planning.rules.norm import norm_stage_rules

__all__ = ["PlanError", "depend", "machine_of", "verify_plan"]


_RULES: Mapping[type, tuple[tuple[Any, ...], Callable[..., Iterator[Rule]]]] = {
    LinearStage: ((MatMul | Transform, LayerNorm), linear_rules),
    NormStage: ((LayerNorm,), norm_stage_rules),
    CombineStage: ((Combination,), combine_rules),
}
"""The operators of each kind of stage of few operators, as far as it has them, and its rules."""


class PlanError(ValueError):
    """A plan breaks a rule."""

    def __init__(self, rule: str, place: str, text: str):
        super().__init__(f"{rule}: {place}: {text}")
        self.rule, self.place, self.text = rule, place, text


def machine_of(config: AcceleratorConfig) -> Machine:
    """The facts about an accelerator that a plan depends on."""
    return Machine(**{fact.name: getattr(config, fact.name) for fact in fields(Machine)})


def _check_machine(planned: Machine, real: Machine) -> None:
    """Raise `PlanError` with the facts of a plan's machine that are others."""
    if planned == real:  # Searches ask this of each of very many plans.
        return
    sides = asdict(planned), asdict(real)
    others = [name for name, value in sides[0].items() if value != sides[1][name]]
    was, now = (", ".join(f"{name} {side[name]}" for name in others) for side in sides)
    raise PlanError("machine", was, f"the accelerator has {now}")


def verify_plan(plan: Plan, graph: Graph, config: AcceleratorConfig) -> Plan:
    """Return `plan` if it is a legal one of `graph` for `config`; raise `PlanError` otherwise."""
    if plan.graph != graph.name:
        raise PlanError("graph", plan.graph, f"the graph is {graph.name}")
    _check_machine(plan.machine, machine_of(config))
    _check_rings(plan)
    stages = [op for stage in plan.stages for op in stage.ops]
    ops = [op.name for op in graph.ops]
    if sorted(stages) != sorted(ops):
        raise PlanError("stages", ", ".join(stages), f"the operators are {', '.join(ops)}")
    if stages != ops:
        _check_order(stages, graph)
    known = {op.name: op for op in graph.ops}
    for stage in plan.stages:
        for rule, holds, text in _rules(
            stage, [known[op] for op in stage.ops], plan, graph, config
        ):
            if not holds:
                raise PlanError(rule, f"stage {stage.ops[0]}", text)
    return plan


def _check_order(stages: list[str], graph: Graph) -> None:
    """Check that operators which share elements, of which one writes, are computed in order."""
    places = {name: place for place, name in enumerate(stages)}
    for one, other in combinations(graph.ops, 2):
        if places[one.name] > places[other.name] and depend(one, other, graph.moving):
            text = f"{other.name} comes before {one.name}, which it depends on or overwrites"
            raise PlanError("order", ", ".join(stages), text)


def depend(one: Op, other: Op, moving: frozenset[str]) -> bool:
    """Whether one of two operators writes what the other one reads or writes."""

    def meet(view: View, others: Iterable[View]) -> bool:
        same = (each for each in others if each.tensor == view.tensor)
        return any(view.meets(each) or view.tensor in moving for each in same)

    written = any(meet(view, chain(other.operands, other.results)) for view in one.results)
    return written or any(meet(view, one.operands) for view in other.results)


def _rules(
    stage: Stage, ops: list[Op], plan: Plan, graph: Graph, config: AcceleratorConfig
) -> Iterator[Rule]:
    """The rules of a stage that computes `ops`."""
    rules, known = StageRules(plan, graph, config), {op.name: op for op in ops}
    match stage:
        case ConcurrentStage():
            branches = import_module("celosia.sw.branches.rules")
            yield from branches.concurrent_rules(stage, known, rules)
            for each in (each for branch in stage.branches for each in branch.stages):
                yield from _rules(each, [known[op] for op in each.ops], plan, graph, config)
        case AttentionStage():
            yield from attention_rules(stage, known, rules)
        case _:
            kinds, rules_of = _RULES[type(stage)]
            legal = all(map(isinstance, ops, kinds))
            yield "kind", legal, f"{ops[0]} and its like are not of kind {stage.kind}"
            yield from rules_of(stage, rules, *ops)


def _check_rings(plan: Plan) -> None:
    """Check that rings are inside of their memories, and their spans apart from each other."""
    machine = plan.machine
    sizes = machine.rows
    for name, ring in plan.rings.items():
        place, taken = f"ring {name}", list[tuple[int, int]]()
        if not ring.spans:
            raise PlanError("ring-spans", place, "it has no span")
        if ring.step < 1:
            raise PlanError("ring-step", place, f"{ring.step} is less than 1")
        for first, rows in ring.spans:
            if first < 0 or rows < 1 or first + rows > sizes[ring.space]:
                text = f"{rows} rows from {first} on are not in {sizes[ring.space]} of {ring.space}"
                raise PlanError("ring-inside", place, text)
            if any(first < begin + size and begin < first + rows for begin, size in taken):
                text = f"rows {first}..{first + rows - 1} are those of another span as well"
                raise PlanError("ring-apart", place, text)
            taken.append((first, rows))
