"""What the tests make of a sample of single changes, and how that is told."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

from rich.table import Table

from celosia.isa.documents.record import As, Hidden, Inline, Key, Record, Sparse
from celosia.lab.mutate.campaign import Campaign
from celosia.lab.mutate.edit import Edit
from celosia.lab.mutate.equivalents import Equivalent
from celosia.lab.mutate.generate import Change
from celosia.lab.mutate.trial import Ended, Trial
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sim.support.workers import Lane

__all__ = ["MutationSample", "Outcome", "outcomes_table", "survivors", "try_sample"]

_CAUGHT: Final = {Ended.FAILED, Ended.DEADLINE}


def _unless_empty(text: str) -> str | None:
    return text or None


@dataclass(frozen=True)
class Outcome:
    """What became of one change."""

    change: Inline[Change]
    trial: Hidden[Trial | None]
    """None: it was not tried, because it is listed as equivalent."""
    reason: Annotated[Sparse[str], As(_unless_empty)] = ""
    """Why the change is equivalent; not there if it was tried."""

    @Key
    def name(self) -> str:
        """The change's name."""
        return self.change.fault.name

    @Key
    def edit(self) -> Inline[Edit]:
        """What is changed."""
        return self.change.fault.edit

    @Key
    def tests(self) -> tuple[str, ...]:
        """The files of tests that are to notice it."""
        return self.change.fault.tests

    @Key
    def ended(self) -> Sparse[str | None]:
        """How the last run of tests ended."""
        return self.trial and self.trial.ended

    @Key
    def test(self) -> Sparse[str | None]:
        """The test that failed; empty if none did, or pytest does not say."""
        return self.trial and self.trial.test

    @Key
    def seconds(self) -> Sparse[float | None]:
        """How long it took."""
        return self.trial and round(self.trial.seconds, 1)

    @Key
    def result(self) -> Literal["caught", "survived", "killed", "equivalent"]:
        """What became of it; `killed`: its tests had to be ended from outside."""
        if self.trial is None:
            return "equivalent"
        if self.trial.ended in _CAUGHT:
            return "caught"
        return "killed" if self.trial.ended == Ended.KILLED else "survived"


@dataclass(frozen=True)
class MutationSample(Record):
    """What the tests make of single changes."""

    package: str
    """The files that were changed."""
    seed: int
    """The seed of the draw."""
    outcomes: Sequence[Outcome]
    """Each change."""
    schema: Literal["celosia.mutate/1"] = "celosia.mutate/1"
    """The number changes when a key changes its meaning or goes; new keys may come without."""

    @Key
    def changes(self) -> int:
        """How many there are."""
        return len(self.outcomes)

    @Key
    def caught(self) -> int:
        """Changes that tests have failed for."""
        return self._count("caught")

    @Key
    def survived(self) -> int:
        """Changes that no test has noticed."""
        return self._count("survived")

    @Key
    def killed(self) -> int:
        """Changes whose tests had to be ended from outside."""
        return self._count("killed")

    @Key
    def equivalent(self) -> int:
        """Changes that are listed as equivalent, and were not tried."""
        return self._count("equivalent")

    def _count(self, result: str) -> int:
        return sum(each.result == result for each in self.outcomes)


@dataclass(frozen=True)
class _Unchanged:
    """No fault at all: what is tried first, because tests that fail anyway catch nothing."""

    tests: tuple[str, ...]
    title: str = "nothing is changed"
    paths: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"without a change: {' '.join(self.tests)}"

    def changed(self, root: Path) -> dict[str, str | None]:
        """No file: nothing is changed."""
        return {}


def try_sample(
    changes: Sequence[Change],
    equivalents: Sequence[Equivalent],
    campaign: Campaign,
    lanes: Sequence[Lane],
    tell: Progress,
) -> list[Outcome]:
    """The outcome of each change, in order.

    Raises `InputError` if some of their tests fail, or take too long, without any change.
    """
    reasons = {each.edit: each.reason for each in equivalents}
    faults = [change.fault for change in changes if change.fault.edit not in reasons]
    unchanged = [_Unchanged(tests) for tests in dict.fromkeys(fault.tests for fault in faults)]
    for trial in campaign.run(unchanged, lanes, tell):
        if trial.ended != Ended.PASSED:
            raise InputError(f"{trial.name}: {trial.ended} {trial.test}".rstrip())
    trials = {trial.name: trial for trial in campaign.run(faults, lanes, tell)}
    return [
        Outcome(each, trials.get(each.fault.name), reasons.get(each.fault.edit, ""))
        for each in changes
    ]


def survivors(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The outcomes of changes that no test has noticed by itself."""
    return [each for each in outcomes if each.result in {"survived", "killed"}]


def outcomes_table(outcomes: Sequence[Outcome]) -> Table:
    """One row for each change that was not simply caught."""
    table = Table("place", "change", "result", title="Single changes that no test has failed for")
    for each in outcomes:
        if each.result != "caught":
            place = f"{each.change.fault.edit.file}:{each.change.line}"
            table.add_row(place, each.change.fault.title, each.reason or each.result)
    return table
