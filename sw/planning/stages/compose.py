"""Stages of a graph to its plan: each branch has its part of every local memory."""

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from itertools import groupby
from typing import Any

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sw.ir.graph import Graph
from celosia.sw.pipeline import predict_plan
from celosia.sw.planning.forms.plan import Plan, RingPlan, Stage
from celosia.sw.planning.forms.stages import Branch, ConcurrentStage
from celosia.sw.planning.rules.verify import machine_of, verify_plan
from celosia.sw.planning.stages.blocks import Block, blocks_of
from celosia.sw.planning.stages.costs import Costs
from celosia.sw.planning.stages.search import STRATEGIES, Branches, Strategy, stages_of

__all__ = ["best_stages", "plan_of_stages", "staged_plan", "staged_plans"]

_GAIN = 0.01
"""Stages must be expected to be better by this share than the sequential order."""
_QUARTERS = 4
"""Quarters of the scratchpad, in which rings stand."""
_NAMES = ("op", "heads", "kind", "by")
"""Fields with strings that are no names of rings."""


def best_stages(graph: Graph, config: AcceleratorConfig, timing: MemoryTiming) -> Plan:
    """The plan of dynamic programming, unless another one is expected to be faster.

    Raises `ValueError` for what the accelerator cannot do.
    """
    plans = staged_plans(graph, config, timing)
    cycles = {
        name: predict_plan(graph, plan, config, timing).cycles for name, plan in plans.items()
    }
    best = min(("dp", "greedy"), key=lambda name: cycles[name])
    alone = cycles["sequential"]
    return plans[best] if cycles[best] < (1 - _GAIN) * alone else plans["sequential"]


def staged_plan(
    graph: Graph, config: AcceleratorConfig, timing: MemoryTiming, strategy: Strategy
) -> Plan:
    """The plan by a strategy.  Raises `ValueError` for what the accelerator cannot do."""
    costs = Costs(graph, config, timing)
    return plan_of_stages(stages_of(blocks_of(graph), costs, strategy), costs)


def staged_plans(
    graph: Graph, config: AcceleratorConfig, timing: MemoryTiming
) -> dict[Strategy, Plan]:
    """A plan by each strategy."""
    blocks, costs = blocks_of(graph), Costs(graph, config, timing)
    return {
        strategy: plan_of_stages(stages_of(blocks, costs, strategy), costs)
        for strategy in STRATEGIES
    }


def plan_of_stages(stages: Sequence[Branches], costs: Costs) -> Plan:
    """The plan of `stages` that is expected to be faster, of those by the two schedulers.

    Blocks that follow each other alone are planned together.
    """
    graph, config = costs.graph, costs.config
    composer = _Composer(costs)
    made: list[Stage] = []
    for alone, run in groupby(stages, lambda branches: len(branches) == 1):
        if alone:
            made += composer.alone([block for ((*blocks,),) in run for block in blocks])
        else:
            made += [composer.together(branches) for branches in run]
    plan = Plan(
        graph=graph.name,
        machine=machine_of(config),
        rings=composer.rings,
        stages=tuple(made),
    )
    plans = [
        verify_plan(replace(plan, scheduler=scheduler), graph, config)
        for scheduler in ("regular", "need")
    ]
    return min(plans, key=lambda each: predict_plan(graph, each, config, costs.timing).cycles)


class _Composer:
    """Plans of parts of a graph in one plan, with the rings of all."""

    def __init__(self, costs: Costs):
        self.costs = costs
        self.rings: dict[str, RingPlan] = {}

    def alone(self, blocks: Sequence[Block]) -> Iterator[Stage]:
        """The stages of blocks in order, with all of the memories for each."""
        yield from self._taken(self.costs.plan(blocks, 1), 0, 1)

    def together(self, branches: Branches) -> ConcurrentStage:
        """Branches, each in its part of the memories."""
        parts = 2 if len(branches) == 2 else 4
        return ConcurrentStage(
            branches=tuple(
                self._branch(branch, part, parts) for part, branch in enumerate(branches)
            )
        )

    def _branch(self, blocks: Sequence[Block], part: int, parts: int) -> Branch:
        stages: Any = tuple(self._taken(self.costs.plan(blocks, parts), part, parts))
        expected = {}
        for block in blocks:
            cost = self.costs.of(block, parts)
            assert cost is not None
            weight = sum(1 for stage in stages if stage.ops[0] in {op.name for op in block.ops})
            for op in block.ops:
                expected[op.name] = max(1, cost.cycles // max(1, weight))
        return Branch(stages=stages, cycles=tuple(expected[stage.ops[0]] for stage in stages))

    def _taken(self, plan: Plan, part: int, parts: int) -> Iterator[Stage]:
        """The stages of a plan for a part of the memories, in that part."""
        names = {
            name: self._named(name, _moved(ring, part, parts, self.costs.config))
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


def _moved(ring: RingPlan, part: int, parts: int, config: AcceleratorConfig) -> RingPlan:
    """A ring of one of so many parts of a memory, where that part is.

    Each part has its share of every quarter of the scratchpad, so that what stood in different
    banks still does.
    """
    if parts == 1:
        return ring
    if ring.space != "scratchpad":
        sizes = {
            "accumulator": config.accumulator_rows,
            "parameters": config.parameter_rows,
            "statistics": config.statistics_rows,
        }
        first = part * (sizes[ring.space] // parts)
        return replace(ring, spans=tuple((start + first, rows) for start, rows in ring.spans))
    quarter = config.scratchpad_rows // _QUARTERS
    share, spans = quarter // parts, []
    for start, rows in ring.spans:
        bank, within = divmod(start, share)
        assert within + rows <= share, f"{ring}: a span is in two banks"
        spans.append((bank * quarter + part * share + within, rows))
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
