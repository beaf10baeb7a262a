"""What the tests make of a sample of single changes, and how that is told."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from rich.table import Table

from celosia.lab.mutate.campaign import Campaign
from celosia.lab.mutate.equivalents import Equivalent
from celosia.lab.mutate.generate import Change
from celosia.lab.mutate.trial import Ended, Trial
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sim.support.workers import Lane

__all__ = ["Outcome", "json_of", "outcomes_table", "survivors", "try_sample"]

_CAUGHT: Final = {Ended.FAILED, Ended.DEADLINE}


@dataclass(frozen=True)
class Outcome:
    """What became of one change."""

    change: Change
    trial: Trial | None
    """None: it was not tried, because it is listed as equivalent."""
    reason: str = ""
    """Why the change is equivalent; empty if it is not known to be."""

    @property
    def result(self) -> str:
        """`caught`, `survived`, `killed` (its tests had to be ended from outside), `equivalent`."""
        if self.trial is None:
            return "equivalent"
        if self.trial.ended in _CAUGHT:
            return "caught"
        return "killed" if self.trial.ended == Ended.KILLED else "survived"


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


def json_of(package: str, seed: int, outcomes: Sequence[Outcome]) -> str:
    """The outcomes as a document: the counts of results, then each change."""
    counts = Counter(each.result for each in outcomes)
    results = ("caught", "survived", "killed", "equivalent")
    document = {
        "package": package,
        "seed": seed,
        "changes": len(outcomes),
        **{result: counts[result] for result in results},
        "outcomes": [_entry(each) for each in outcomes],
    }
    return json.dumps(document, indent=2) + "\n"


def _entry(outcome: Outcome) -> dict[str, Any]:
    change, trial = outcome.change, outcome.trial
    entry = {
        "name": change.fault.name,
        "operator": change.operator,
        "line": change.line,
        **asdict(change.fault.edit),
        "tests": [*change.fault.tests],
        "result": outcome.result,
    }
    if trial is None:
        return entry | {"reason": outcome.reason}
    return entry | {"ended": trial.ended, "test": trial.test, "seconds": round(trial.seconds, 1)}


def outcomes_table(outcomes: Sequence[Outcome]) -> Table:
    """One row for each change that was not simply caught."""
    table = Table("place", "change", "result", title="Single changes that no test has failed for")
    for each in outcomes:
        if each.result != "caught":
            place = f"{each.change.fault.edit.file}:{each.change.line}"
            table.add_row(place, each.change.fault.title, each.reason or each.result)
    return table
