"""Plans that a user gives: in a file, as a schedule, or as the best one of a tuning log."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.foreign_file import MIB
from celosia.isa.memory import MemoryTiming
from celosia.sim.run.options.plan_sources import OtherGraphError, PlanSource
from celosia.sim.support.extensions import extension
from celosia.sim.support.output import read_text
from celosia.sim.support.problems import InputError
from celosia.sw.compiler.starts import scheduled_plan
from celosia.sw.ir.graph import Graph
from celosia.sw.planning.forms.plan import Plan
from celosia.sw.planning.forms.text import parse_plan
from celosia.sw.planning.rules.verify import verify_plan
from celosia.sw.planning.schedules.primitives import ScheduleFile
from celosia.sw.planning.schedules.text import parse_schedule

__all__ = ["GivenPlan"]

_PLAN_BYTES: Final = 2 * MIB
"""The longest text of a plan or a schedule that is read."""
_PLAN_START: Final = re.compile(r"^graph *=", re.MULTILINE)
"""What each plan of a file begins with."""


@dataclass(frozen=True, kw_only=True)
class GivenPlan:
    """Where the plans of graphs come from; all None: the compiler decides."""

    plan: str | None = None
    """A file of plans, as `celosia compile --print-after plan` prints those of a workload."""
    schedule: str | None = None
    """A file with a list of primitives."""
    tuned: str | None = None
    """A log of `celosia tune`."""
    stages: str | None = None
    """A strategy of stages."""

    @property
    def options(self) -> tuple[str, ...]:
        """The options that say so, with their files."""
        given = {
            "--plan": self.plan,
            "--schedule": self.schedule,
            "--tuned": self.tuned,
            "--stages": self.stages,
        }
        return tuple(f"{option} {value}" for option, value in given.items() if value is not None)

    def check(self) -> None:
        """Raise `InputError` if there is more than one, or a source refuses its value."""
        for name, value in self._sourced():
            _source(name).check(value)
        if len(self.options) > 1:
            first, *others = self.options
            raise InputError(f"{first}: not together with {others[0]}, which is a plan already")

    def of(
        self, graphs: Sequence[Graph], config: AcceleratorConfig, timing: MemoryTiming
    ) -> tuple[Plan | None, ...]:
        """A legal plan for each of `graphs`; None: it is the compiler's own.

        A file may have plans for some of several graphs.  Raises `InputError` that names the file,
        and the rule that a plan breaks, or the graph that there is not.
        """
        self.check()
        if not self.options:
            return (None,) * len(graphs)
        (option,) = self.options
        try:
            for name, value in self._sourced():
                return _by_source(_source(name), value, graphs, config, timing)
            if self.plan is not None:
                return _by_name(_read_plans(self.plan), graphs, config)
            assert self.schedule is not None
            return _by_steps(_read_schedule(self.schedule), graphs, config, timing)
        except InputError:
            raise
        except ValueError as error:
            raise InputError(f"{self.plan or self.schedule or option}: {error}") from None

    def _sourced(self) -> list[tuple[str, str]]:
        """The options whose plans another package makes, with their values."""
        given = {"tuned": self.tuned, "stages": self.stages}
        return [(name, value) for name, value in given.items() if value is not None]


def _source(name: str) -> PlanSource:
    return extension("plans", name, f"--{name}")


def _by_source(
    source: PlanSource,
    value: str,
    graphs: Sequence[Graph],
    config: AcceleratorConfig,
    timing: MemoryTiming,
) -> tuple[Plan | None, ...]:
    """The plans of a source, which must have one for one graph at least."""
    plans: list[Plan | None] = []
    others: list[OtherGraphError] = []
    for graph in graphs:
        try:
            plans.append(source.plan(value, graph, config, timing))
        except OtherGraphError as error:
            plans.append(None)
            others.append(error)
    if len(others) == len(graphs):
        raise others[0]
    return tuple(plans)


def _by_name(
    plans: Sequence[Plan], graphs: Sequence[Graph], config: AcceleratorConfig
) -> tuple[Plan | None, ...]:
    """The plans of a file, each for the graph that it names.  Raises `ValueError`."""
    if len(graphs) == len(plans) == 1:
        return (verify_plan(plans[0], graphs[0], config),)
    found = {plan.graph: plan for plan in plans}
    if len(found) < len(plans):
        raise ValueError("it has two plans of one graph")
    for name in found.keys() - {graph.name for graph in graphs}:
        names = ", ".join(repr(graph.name) for graph in graphs)
        raise ValueError(f"plan.graph: {name!r} is none of {names}")
    return tuple(
        verify_plan(found[graph.name], graph, config) if graph.name in found else None
        for graph in graphs
    )


def _by_steps(
    schedule: ScheduleFile,
    graphs: Sequence[Graph],
    config: AcceleratorConfig,
    timing: MemoryTiming,
) -> tuple[Plan, ...]:
    """The plans of a schedule: each graph takes the steps that name an operator of it, or none.

    Raises `ValueError`; also for a step that names an operator of no graph.
    """
    known = [{op.name for op in graph.ops} for graph in graphs]
    plans = []
    for number, graph in enumerate(graphs):
        steps = tuple(
            step
            for step in schedule.steps
            if not step.op
            or step.op in known[number]
            or (number == 0 and not any(step.op in names for names in known))
        )
        plans.append(scheduled_plan(replace(schedule, steps=steps), graph, config, timing))
    return tuple(plans)


def _read_plans(path: str) -> list[Plan]:
    """The plans of a file, one behind the other.  Raises `ValueError` with a line of the file."""
    text = read_text(path, _PLAN_BYTES)
    starts = [found.start() for found in _PLAN_START.finditer(text)]
    ends = [*starts[1:], len(text)]
    parts = [
        "\n" * text.count("\n", 0, start) + text[start:end]
        for start, end in zip([0, *starts[1:]], ends, strict=True)
    ]
    return [parse_plan(part) for part in parts]


def _read_schedule(path: str) -> ScheduleFile:
    return parse_schedule(read_text(path, _PLAN_BYTES))
