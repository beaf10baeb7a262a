"""Plans of stages by a strategy, and the source of `--stages`."""

from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Final

from celosia.isa.config import AcceleratorConfig, did_you_mean
from celosia.isa.memory import MemoryTiming
from celosia.lab.tune.branches.search import STRATEGIES, Strategy, stages_of
from celosia.sim.run.options.plan_sources import PlanSource
from celosia.sim.support.problems import InputError
from celosia.sw.branches.blocks import Block, blocks_of
from celosia.sw.branches.compose import follow, plan_of_stages
from celosia.sw.branches.costs import Costs
from celosia.sw.compiler.passes import predict
from celosia.sw.compiler.pipeline import find_plan
from celosia.sw.ir.graph import Graph
from celosia.sw.planning.forms.plan import Plan

__all__ = ["BEST", "SOURCE", "best_stages", "staged_plan", "staged_plans"]

BEST: Final = "best"
"""The strategy whose plan is expected to be the fastest."""
_GAIN: Final = 0.01
"""Stages must be expected to be better by this share than the compiler's own plan."""
_FOLLOWED: Final = 24
"""Programs of stages that the timeline follows, at most; those that are alike count once."""


def best_stages(graph: Graph, config: AcceleratorConfig, timing: MemoryTiming) -> Plan:
    """The plan by a strategy that is expected to be the fastest, or the compiler's own plan.

    Raises `ValueError` for what the accelerator cannot do.
    """
    staged = staged_plans(graph, config, timing)
    own = find_plan(graph, config, timing)
    cycles, best = min(
        ((predict(graph, config, plan, timing).cycles, plan) for plan in staged.values()),
        key=itemgetter(0),
    )
    alone = predict(graph, config, own, timing).cycles
    return best if cycles < (1 - _GAIN) * alone else own


def staged_plan(
    graph: Graph, config: AcceleratorConfig, timing: MemoryTiming, strategy: Strategy
) -> Plan:
    """The plan by a strategy.  Raises `ValueError` for what the accelerator cannot do."""
    return _planned(blocks_of(graph), Costs(graph, config, timing), strategy)


def staged_plans(
    graph: Graph, config: AcceleratorConfig, timing: MemoryTiming
) -> dict[Strategy, Plan]:
    """A plan by each strategy."""
    blocks, costs = blocks_of(graph), Costs(graph, config, timing)
    return {strategy: _planned(blocks, costs, strategy) for strategy in STRATEGIES}


def _planned(blocks: Sequence[Block], costs: Costs, strategy: Strategy) -> Plan:
    """The plan by a strategy; of `dp`, the timeline follows what seems to be best.

    What is best by the unit that is busiest is compared, too: stages hide the ends of each other.
    """
    stages = stages_of(blocks, costs, strategy)
    plans = [plan_of_stages(stages, costs)]
    if strategy == "dp":
        for _ in range(_FOLLOWED):
            if not follow(stages, costs):
                break
            stages = stages_of(blocks, costs, strategy)
        costs = replace(costs, only_followed=True)
        plans.append(plan_of_stages(stages_of(blocks, costs, strategy), costs))
    return min(
        plans, key=lambda plan: predict(costs.graph, costs.config, plan, costs.timing).cycles
    )


def _check(strategy: str) -> None:
    """Raise `InputError` if there is no such strategy."""
    if strategy not in (BEST, *STRATEGIES):
        known = (BEST, *STRATEGIES)
        near = did_you_mean(strategy, known)
        raise InputError(f"--stages {strategy}: there are {', '.join(known)}{near}")


def _plan(strategy: str, graph: Graph, config: AcceleratorConfig, timing: MemoryTiming) -> Plan:
    for known in STRATEGIES:
        if strategy == known:
            return staged_plan(graph, config, timing, known)
    return best_stages(graph, config, timing)


SOURCE: Final = PlanSource(_check, _plan)
"""Plans for `--stages STRATEGY`."""
