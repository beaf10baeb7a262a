"""Stages of a graph to its plan: each branch has its part of every local memory."""

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from itertools import groupby
from typing import Any

from celosia.isa.config import AcceleratorConfig
from celosia.sw.branches.blocks import Block, Branches, part_of
from celosia.sw.branches.costs import Costs
from celosia.sw.branches.shares import QUARTERS
from celosia.sw.compiler.passes import predict
from celosia.sw.ir.graph import Graph
from celosia.sw.planning.forms.plan import Plan, RingPlan, Stage
from celosia.sw.planning.forms.stages import Branch, ConcurrentStage
from celosia.sw.planning.rules.verify import machine_of, verify_plan

__all__ = ["follow", "plan_of_stages"]

_NAMES = ("op", "heads", "kind", "by")
"""Fields with strings that are no names of rings."""


def plan_of_stages(stages: Sequence[Branches], costs: Costs) -> Plan:
    """The plan of `stages` that is expected to be faster, of those by the two schedulers.

    Blocks that follow each other alone are planned together.
    """
    plans = _composed(costs.graph, stages, costs)
    return min(plans, key=lambda each: _cycles(costs.graph, each, costs))


def follow(stages: Sequence[Branches], costs: Costs) -> bool:
    """Let the timeline follow the program of the first of `stages` of which that is not known.

    Returns whether there was one: then other stages may be the best.
    """
    for branches in stages:
        found = costs.together(branches)
        if len(branches) == 1 or found is None or costs.is_followed(branches, found.quarters):
            continue
        blocks = sorted((b for branch in branches for b in branch), key=lambda b: b.number)
        part = part_of(costs.graph, blocks)
        plans = _composed(part, [branches], costs)
        cycles = min(_cycles(part, plan, costs) for plan in plans)
        costs.learn(branches, found.quarters, cycles)
        return True
    return False


def _cycles(graph: Graph, plan: Plan, costs: Costs) -> int:
    return predict(graph, costs.config, plan, costs.timing).cycles


def _composed(graph: Graph, stages: Sequence[Branches], costs: Costs) -> list[Plan]:
    """The plans of `stages`, which compute a part of `graph`, by each scheduler."""
    composer = _Composer(costs)
    made: list[Stage] = []
    for alone, run in groupby(stages, lambda branches: len(branches) == 1):
        if alone:
            made += composer.alone([block for ((*blocks,),) in run for block in blocks])
        else:
            made += [composer.together(branches) for branches in run]
    plan = Plan(
        graph=graph.name,
        machine=machine_of(costs.config),
        rings=composer.rings,
        stages=tuple(made),
    )
    return [
        verify_plan(replace(plan, scheduler=scheduler), graph, costs.config)
        for scheduler in ("regular", "need")
    ]


class _Composer:
    """Plans of parts of a graph in one plan, with the rings of all."""

    def __init__(self, costs: Costs):
        self.costs = costs
        self.rings: dict[str, RingPlan] = {}

    def alone(self, blocks: Sequence[Block]) -> Iterator[Stage]:
        """The stages of blocks in order, with all of the memories for each."""
        yield from self._taken(self.costs.plan(blocks, QUARTERS), 0, QUARTERS)

    def together(self, branches: Branches) -> ConcurrentStage:
        """Branches, each in its part of the memories."""
        found = self.costs.together(branches)
        assert found is not None
        first, made = 0, list[Branch]()
        for blocks, quarters in zip(branches, found.quarters, strict=True):
            made.append(self._branch(blocks, first, quarters))
            first += quarters
        return ConcurrentStage(branches=tuple(made))

    def _branch(self, blocks: Sequence[Block], first: int, quarters: int) -> Branch:
        stages: Any = tuple(self._taken(self.costs.plan(blocks, quarters), first, quarters))
        expected = {}
        for block in blocks:
            cost = self.costs.of(block, quarters)
            assert cost is not None
            weight = sum(1 for stage in stages if stage.ops[0] in {op.name for op in block.ops})
            for op in block.ops:
                expected[op.name] = max(1, cost.cycles // max(1, weight))
        return Branch(stages=stages, cycles=tuple(expected[stage.ops[0]] for stage in stages))

    def _taken(self, plan: Plan, first: int, quarters: int) -> Iterator[Stage]:
        """The stages of a plan for so many quarters of the memories, from the `first` one on."""
        names = {
            name: self._named(name, _moved(ring, first, quarters, self.costs.config))
            for name, ring in plan.rings.items()
        }
        for stage in plan.stages:
            yield _renamed(stage, names)

    def _named(self, name: str, ring: RingPlan) -> str:
        """The name of a ring that is just like this one."""
        number, key = 1, name
        while self.rings.setdefault(key, ring) != ring:
            number += 1
            key = f"{name} {number}"
        return key


def _moved(ring: RingPlan, first: int, quarters: int, config: AcceleratorConfig) -> RingPlan:
    """A ring of so many quarters of a memory, where these are, from the `first` one on.

    Each share has its quarters of every quarter of the scratchpad, so that what stood in different
    banks still does.
    """
    if ring.space != "scratchpad":
        before = first * machine_of(config).rows[ring.space] // QUARTERS
        return replace(ring, spans=tuple((start + before, rows) for start, rows in ring.spans))
    bank_rows = config.scratchpad_rows // QUARTERS
    share, spans = bank_rows * quarters // QUARTERS, []
    for start, rows in ring.spans:
        bank, within = divmod(start, share)
        assert quarters == QUARTERS or within + rows <= share, f"{ring}: a span is in two banks"
        spans.append((bank * bank_rows + first * bank_rows // QUARTERS + within, rows))
    return replace(ring, spans=tuple(spans))


def _renamed(value: Any, names: dict[str, str]) -> Any:
    """A stage with other names of rings."""
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, tuple):
        return tuple(_renamed(each, names) for each in value)
    if is_dataclass(value) and not isinstance(value, type):
        changes = {
            field.name: _renamed(getattr(value, field.name), names)
            for field in fields(value)
            if field.name not in _NAMES
        }
        return replace(value, **changes)
    return value
