"""One trial: a plan of a product, and the cycles that it takes by the model or on the RTL."""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Literal

from celosia.isa.config import AcceleratorConfig
from celosia.sim.devices.devices import open_device
from celosia.sim.run.measure import measure_product
from celosia.sim.run.run import RunOptions
from celosia.sim.run.tuning_log import DEFAULT, Entry
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.problems import InputError
from celosia.sim.support.version import source_version
from celosia.sim.workloads.product_workloads import Operator, device_bytes
from celosia.sim.workloads.workloads import WORKLOADS, ProductWorkload
from celosia.sw.pipeline import predict_plan
from celosia.sw.planning.decisions.decide import only_product
from celosia.sw.planning.forms.plan import Plan
from celosia.sw.planning.problems import graph_of
from celosia.sw.planning.rules.verify import PlanError
from celosia.sw.planning.schedules.plan_space import Choice, PlanSpace
from celosia.sw.refine import best_plan

__all__ = ["Found", "Oracle", "Trial", "product_of", "space_of", "try_plan"]

Oracle = Literal["model", "rtl"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Trial:
    """A plan to try."""

    options: RunOptions
    config: AcceleratorConfig
    oracle: Oracle
    strategy: str
    number: int
    """The trial's place among those of its strategy."""
    chosen: Mapping[str, Choice] = field(default_factory=dict)
    version: str = field(default_factory=source_version)


@dataclass(frozen=True)
class Found:
    """What became of a trial: cycles, or the rule that the plan breaks."""

    cycles: int | None
    refused: str = ""

    def line(self, trial: Trial) -> Entry:
        """What a tuning log keeps of a trial."""
        known: Entry = {
            "strategy": trial.strategy,
            "trial": trial.number,
            "chosen": dict(trial.chosen),
        }
        return known | ({"refused": self.refused} if self.refused else {"cycles": self.cycles})


def product_of(options: RunOptions) -> Operator:
    """The only product of a workload.  Raises `InputError` for other workloads."""
    workload = WORKLOADS[options.workload]
    if not isinstance(workload, ProductWorkload):
        raise InputError(f"{options.workload}: plans of products are tuned, such as matmul")
    operators = workload.make(options.details, options.timing.seed)
    if len(operators) != 1:
        raise InputError(f"{options.workload}: {len(operators)} products; tune takes one: matmul")
    return operators[0]


def space_of(operator: Operator, config: AcceleratorConfig) -> PlanSpace:
    """The plans of a product."""
    graph = graph_of(operator.name, operator.operands.problem)
    return PlanSpace(only_product(graph), graph, config)


def try_plan(trial: Trial) -> Found:
    """The cycles of a trial's plan, in whatever process.

    On the RTL, every element is compared; a wrong one is an `AssertionError`: the rules of plans
    have a hole.  Raises `EnvironmentProblem` where a tool is missing, or other sources are at work.
    """
    if trial.version != source_version():
        raise EnvironmentProblem(
            f"a worker has version {source_version()}, the search is of {trial.version}: install "
            "the same celosia on both (docs/cluster.md)"
        )
    operator, timing = product_of(trial.options), trial.options.timing
    space = space_of(operator, trial.config)
    try:
        if trial.strategy == DEFAULT:
            plan = best_plan(space.graph, trial.config, timing)
        else:
            plan = space.plan(trial.chosen)
        if trial.oracle == "model":
            return Found(predict_plan(space.graph, plan, trial.config, timing).cycles)
    except PlanError as error:
        return Found(None, str(error))
    return _measured(trial, operator, plan)


def _measured(trial: Trial, operator: Operator, plan: Plan) -> Found:
    """The cycles of a legal plan on the RTL."""
    timing = trial.options.timing
    device = open_device("verilator", trial.config, timing, device_bytes([operator]))
    with closing(device):
        measured, _ = measure_product(device, operator, timing, plan=plan)
    assert measured.right, f"{trial.chosen}: {measured.failure or measured.mismatches}"
    return Found(measured.cycles)
