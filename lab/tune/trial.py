"""One trial: a plan, and the cycles that it takes by the model or on the RTL."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from celosia.isa.config import AcceleratorConfig
from celosia.lab.sweep.version import whole_version
from celosia.lab.tune.features import Seen, seen_of
from celosia.lab.tune.spaces.choice_space import Choice
from celosia.lab.tune.spaces.graph_space import plan_space
from celosia.lab.tune.tuning_log import DEFAULT, Entry
from celosia.lab.tune.work import work_of
from celosia.sim.run.options.options import RunOptions
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.workers import Needs
from celosia.sim.verilator.build import is_built
from celosia.sw.compiler.passes import predict
from celosia.sw.compiler.pipeline import find_plan
from celosia.sw.planning.rules.verify import PlanError

__all__ = ["SIMULATORS", "Found", "Oracle", "Trial", "try_plan"]

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
    graph: str | None = None
    """Which of several graphs; None: there is one."""
    chosen: Mapping[str, Choice] = field(default_factory=dict)
    version: str = field(default_factory=whole_version)


def _simulator(trial: Trial) -> tuple[AcceleratorConfig] | None:
    return (trial.config,) if trial.oracle == "rtl" else None


SIMULATORS: Final = Needs(_simulator, is_built)
"""What must be built before a trial is run."""


@dataclass(frozen=True)
class Found:
    """What became of a trial: cycles, or the rule that the plan breaks."""

    cycles: int | None
    refused: str | None = None
    seen: Seen | None = field(default=None, compare=False)
    """What a plan looked like that ran on the RTL."""

    def line(self, trial: Trial) -> Entry:
        """What a tuning log keeps of a trial."""
        return Entry(
            strategy=trial.strategy,
            trial=trial.number,
            chosen=dict(trial.chosen),
            cycles=self.cycles,
            refused=self.refused,
            predicted=None if self.seen is None else self.seen.predicted,
            features=None if self.seen is None else [*self.seen.features.values()],
        )


def try_plan(trial: Trial) -> Found:
    """The cycles of a trial's plan, in whatever process.

    On the RTL, every element is compared; a wrong one is an `AssertionError`: the rules of plans
    have a hole.  Raises `EnvironmentProblem` where a tool is missing, or other sources are at work.
    """
    if trial.version != whole_version():
        raise EnvironmentProblem(
            f"a worker has version {whole_version()}, the search is of {trial.version}: install "
            "the same celosia on both (docs/cluster.md)"
        )
    work, timing = work_of(trial.options, trial.graph), trial.options.target.timing
    try:
        if trial.strategy == DEFAULT:
            plan = find_plan(work.graph, trial.config, timing)
        else:
            plan = plan_space(work.graph, trial.config).plan(trial.chosen)
        if trial.oracle == "model":
            return Found(predict(work.graph, trial.config, plan, timing).cycles)
    except PlanError as error:
        return Found(None, str(error))
    measured = work.measured(plan, trial.config, timing)
    assert measured.right, f"{trial.chosen}: {measured.failure or measured.mismatches}"
    return Found(measured.cycles, seen=seen_of(work.graph, trial.config, plan, timing))
