"""Plans that a user gives: in a file, as a schedule, or as the best one of a tuning log."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.foreign_file import MIB
from celosia.isa.memory import MemoryTiming
from celosia.sim.run.options.plan_sources import PlanSource
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
        try:
            for name, value in self._sourced():
                return _source(name).plan(value, graphs[0], config, timing)
            if self.plan is not None:
                return verify_plan(_read_plan(self.plan), graphs[0], config)
            assert self.schedule is not None
            return scheduled_plan(_read_schedule(self.schedule), graphs[0], config, timing)
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


def _read_plan(path: str) -> Plan:
    return parse_plan(read_text(path, _PLAN_BYTES))


def _read_schedule(path: str) -> ScheduleFile:
    return parse_schedule(read_text(path, _PLAN_BYTES))
