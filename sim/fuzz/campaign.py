"""Many cases, on several workers, for a time; goes on where an interrupted campaign was."""

import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from celosia.isa.presets import resolve_config
from celosia.sim.fuzz.case import difference, draw_case, replay_file
from celosia.sim.fuzz.coverage import points
from celosia.sim.fuzz.shrink import shrink
from celosia.sim.support.cache import digest
from celosia.sim.support.output import write_file
from celosia.sim.support.progress import Progress
from celosia.sim.support.workers import Lane, Lost, run_on

__all__ = ["SEED_BITS", "Findings", "Plan", "fuzz"]

SEED_BITS: Final = 32
"""Bits of the number of a case in its campaign."""


_BATCH: Final = 20
_SAMPLED: Final = 4
"""The number of programs of which one is sampled for coverage."""
_MOST_FINDINGS: Final = 5
"""The number of findings that end a campaign: it is time to look at them."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a campaign does."""

    preset: str
    overrides: tuple[str, ...]
    simulator: str
    seconds: float
    seed: int
    place: str
    """The directory of findings."""


@dataclass
class Findings:
    """What has come out so far."""

    programs: int = 0
    commands: int = 0
    batches: int = 0
    """All cases of so many batches are done."""
    seconds: float = 0.0
    failures: list[tuple[str, str]] = field(default_factory=list)
    """A file that shows it, and what is wrong."""
    points: dict[str, int] = field(default_factory=dict)

    def add(self, other: "Findings") -> None:
        """Take over what a batch has found."""
        self.programs += other.programs
        self.commands += other.commands
        self.batches += other.batches
        self.failures += other.failures
        self.points = dict(Counter(self.points) + Counter(other.points))


@dataclass(frozen=True)
class Batch:
    """What a batch has found, and the files that show it."""

    found: Findings
    files: Mapping[str, str] = field(default_factory=dict)


def fuzz(plan: Plan, state: Path | None, lanes: Iterable[Lane], tell: Progress) -> Findings:
    """Run cases until the time is over, or too many have failed.

    What is found is kept in `state` while it goes on, and removed at its end.
    """
    found = _resume(plan, state)
    before, started = found.seconds, time.monotonic()
    with closing(run_on(lanes, partial(_batch, plan), _batches(plan, found))) as batches:
        for number, done in batches:
            batch = _lost(number, done.attempts) if isinstance(done, Lost) else done
            for name, text in batch.files.items():
                if not Path(name).exists():  # A worker on another machine has it there.
                    write_file(name, text)
            found.add(batch.found)
            found.seconds = before + time.monotonic() - started
            _keep(plan, state, found)
            tell(f"{found.programs} programs", min(1.0, found.seconds / plan.seconds))
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


def _batch(plan: Plan, number: int) -> Batch:
    """The cases of one batch, up to the first that fails."""
    found, config = Findings(batches=1), resolve_config(plan.preset, plan.overrides)
    files: dict[str, str] = {}
    for index in range(_BATCH):
        seed = (plan.seed << SEED_BITS) + number * _BATCH + index
        case = draw_case(seed, plan.preset, plan.overrides)
        program = case.recipe.program()
        found.programs += 1
        found.commands += len(program.commands)
        if index % _SAMPLED == 0:
            found.points = dict(Counter(found.points) + points(program.commands, config))
        owners: Counter[str] = Counter()
        why = difference(case, program, plan.simulator, owners)
        found.points = dict(Counter(found.points) + owners)
        if why:
            name = str(Path(plan.place) / f"fuzz-{plan.preset}-{seed:x}.cel")
            # At once, and again when it is small: what interrupts shrinking does not lose it.
            write_file(name, replay_file(case, name, plan.simulator, why))
            small = shrink(case, lambda c: bool(difference(c, c.recipe.program(), plan.simulator)))
            why = difference(small, small.recipe.program(), plan.simulator) or why
            files[name] = replay_file(small, name, plan.simulator, why)
            write_file(name, files[name])
            found.failures.append((name, why))
            break  # One of a batch is enough; making it small took long.
    return Batch(found, files)


def _name(plan: Plan) -> str:
    return digest([plan.preset, *plan.overrides, plan.simulator, str(plan.seed)])


def _resume(plan: Plan, state: Path | None) -> Findings:
    """What an interrupted campaign of the same plan has kept."""
    if state is not None:
        with suppress(OSError, ValueError, TypeError, KeyError):
            kept = json.loads(state.read_text())
            if kept["plan"] == _name(plan):
                found = Findings(**kept["found"])
                found.failures = [(name, why) for name, why in found.failures]
                return found
    return Findings()


def _keep(plan: Plan, state: Path | None, found: Findings) -> None:
    if state is not None:
        state.parent.mkdir(parents=True, exist_ok=True)
        write_file(str(state), json.dumps({"plan": _name(plan), "found": asdict(found)}))
