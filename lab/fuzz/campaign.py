"""Many cases, on several workers, for a time; goes on where an interrupted campaign was."""

import json
import operator
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, Final

from celosia.isa.foreign_file import MIB, ForeignFileError, parse_json, read_text
from celosia.lab.fuzz.batches import run_batch
from celosia.lab.fuzz.findings import Batch, Findings, Plan
from celosia.sim.support.cache import digest
from celosia.sim.support.output import write_file
from celosia.sim.support.progress import Progress
from celosia.sim.support.workers import Lane, Lost, run_on

__all__ = ["fuzz"]

_MOST_FINDINGS: Final = 5
"""The number of findings that end a campaign: it is time to look at them."""


def fuzz(plan: Plan, state: Path | None, lanes: Iterable[Lane], tell: Progress) -> Findings:
    """Run cases until the time is over, or too many have failed.

    What is found is kept in `state` while it goes on, and removed at its end.
    """
    found = _resume(plan, state)
    before, started = found.seconds, time.monotonic()
    with closing(run_on(lanes, partial(run_batch, plan), _batches(plan, found))) as batches:
        for number, done in batches:
            batch = _lost(number, done.attempts) if isinstance(done, Lost) else done
            for name, content in batch.files.items():
                if not Path(name).exists():  # A worker on another machine has it there.
                    write_file(name, content)
            found.add(batch.found)
            found.seconds = before + time.monotonic() - started
            _keep(plan, state, found)
            tell(f"{found.cases} {plan.what}", min(1.0, found.seconds / plan.seconds))
    if state is not None:
        state.unlink(missing_ok=True)
    return found


def _lost(number: int, attempts: int) -> Batch:
    """What a batch has found that ended each of its workers."""
    failure = (f"batch {number}", f"its worker ended {attempts} times")
    return Batch(Findings(batches=1, failures=[failure]))


def _batches(plan: Plan, found: Findings) -> Iterator[int]:
    """Numbers of batches, until the time is over or too many cases have failed."""
    before, started, number = found.seconds, time.monotonic(), found.batches
    while (
        before + time.monotonic() - started < plan.seconds and len(found.failures) < _MOST_FINDINGS
    ):
        yield number
        number += 1


def _name(plan: Plan) -> str:
    parts = (plan.preset, *plan.overrides, plan.simulator, str(plan.seed), plan.what, *plan.kinds)
    return digest(parts)


def _resume(plan: Plan, state: Path | None) -> Findings:
    """What an interrupted campaign of the same plan has kept."""
    if state is not None:
        with suppress(ForeignFileError, ValueError, TypeError, KeyError):
            kept = parse_json(read_text(state, MIB))
            if kept["plan"] == _name(plan):
                return _findings(kept["found"])
    return Findings()


def _findings(kept: dict[str, Any]) -> Findings:
    """Findings with numbers and texts where they belong; raises `ValueError` or `TypeError`."""
    found = Findings(**kept)
    for name in ("cases", "commands", "batches"):
        setattr(found, name, operator.index(getattr(found, name)))
    found.seconds = float(found.seconds)
    found.failures = [(str(name), str(why)) for name, why in found.failures]
    found.points = {name: operator.index(count) for name, count in dict(found.points).items()}
    return found


def _keep(plan: Plan, state: Path | None, found: Findings) -> None:
    if state is not None:
        state.parent.mkdir(parents=True, exist_ok=True)
        write_file(str(state), json.dumps({"plan": _name(plan), "found": asdict(found)}))
