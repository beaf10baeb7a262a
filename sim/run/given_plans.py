"""Plans that a user gives: in a file, as a schedule, or as the best one of a tuning log."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from celosia.isa.config import AcceleratorConfig, did_you_mean
from celosia.isa.foreign_file import MIB
from celosia.isa.memory import MemoryTiming
from celosia.lab.tune.tuning_log import best_known
from celosia.sim.support.output import read_text
from celosia.sim.support.problems import InputError
from celosia.sw.ir.graph import Graph
from celosia.sw.planning.forms.plan import Plan
from celosia.sw.planning.forms.text import parse_plan
from celosia.sw.planning.rules.verify import verify_plan
from celosia.sw.planning.schedules.primitives import ScheduleFile
from celosia.sw.compiler.starts import scheduled_plan
from celosia.sw.planning.schedules.text import parse_schedule
from celosia.sw.branches.compose import best_stages, staged_plan
from celosia.lab.branches.search import STRATEGIES

__all__ = ["BEST", "GivenPlan"]

BEST: Final = "best"
"""The strategy whose plan is expected to be the fastest."""
_PLAN_BYTES: Final = 2 * MIB
"""The longest text of a plan or a schedule that is read."""


@dataclass(frozen=True, kw_only=True)
class GivenPlan:
    """Where the plan of a graph comes from; all None: the compiler decides."""

    plan: str | None = None
    """A file with a plan, as `celosia compile --print-after plan` prints it."""
    schedule: str | None = None
    """A file with a list of primitives."""
    tuned: str | None = None
    """A log of `celosia tune`."""
    stages: str | None = None
    """A strategy of stages (`celosia.lab.branches.search`), or `BEST`."""

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
        """Raise `InputError` if there is more than one, or no such strategy."""
        if self.stages is not None and self.stages not in (BEST, *STRATEGIES):
            known = (BEST, *STRATEGIES)
            near = did_you_mean(self.stages, known)
            raise InputError(f"--stages {self.stages}: there are {', '.join(known)}{near}")
        if len(self.options) > 1:
            first, *others = self.options
            raise InputError(f"{first}: not together with {others[0]}, which is a plan already")

    def of(
        self, graphs: Sequence[Graph], config: AcceleratorConfig, timing: MemoryTiming
    ) -> Plan | None:
        """The legal plan of the only one of `graphs`; None: it is the compiler's own.

        Raises `InputError` that names the file, and the rule that a plan breaks.
        """
        self.check()
        if not self.options:
            return None
        (option,) = self.options
        if len(graphs) != 1:
            raise InputError(f"{option}: a plan is of one graph, here are {len(graphs)}")
        if self.tuned is not None:
            return best_known(self.tuned, graphs[0], config, timing)
        try:
            if self.plan is not None:
                return verify_plan(_read_plan(self.plan), graphs[0], config)
            if self.schedule is not None:
                return scheduled_plan(_read_schedule(self.schedule), graphs[0], config, timing)
            return _staged(self.stages, graphs[0], config, timing)
        except InputError:
            raise
        except ValueError as error:
            raise InputError(f"{self.plan or self.schedule or option}: {error}") from None


def _staged(
    strategy: str | None, graph: Graph, config: AcceleratorConfig, timing: MemoryTiming
) -> Plan:
    for known in STRATEGIES:
        if strategy == known:
            return staged_plan(graph, config, timing, known)
    return best_stages(graph, config, timing)


def _read_plan(path: str) -> Plan:
    return parse_plan(read_text(path, _PLAN_BYTES))


def _read_schedule(path: str) -> ScheduleFile:
    return parse_schedule(read_text(path, _PLAN_BYTES))
