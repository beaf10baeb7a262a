"""Many cases, in several processes, for a time; goes on where an interrupted campaign was."""

import json
import multiprocessing
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from celosia.isa.presets import resolve_config
from celosia.sim.fuzz.case import difference, draw_case, replay_file
from celosia.sim.fuzz.coverage import points
from celosia.sim.fuzz.shrink import shrink
from celosia.sim.support.cache import digest
from celosia.sim.support.output import write_file
from celosia.sim.support.progress import Progress

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
    jobs: int
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


def fuzz(plan: Plan, state: Path | None, tell: Progress) -> Findings:
    """Run cases until the time is over, or too many have failed.

    What is found is kept in `state` while it goes on, and removed at its end.
    """
    found = _resume(plan, state)
    before, started = found.seconds, time.monotonic()
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(plan.jobs, context, initializer=_serve)
    pending: set[Future[Findings]] = set()
    batches = _batches(found)
    try:
        while found.seconds < plan.seconds and len(found.failures) < _MOST_FINDINGS:
            while len(pending) < plan.jobs:
                pending.add(pool.submit(_batch, plan, next(batches)))
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                found.add(future.result())
            found.seconds = before + time.monotonic() - started
            _keep(plan, state, found)
            tell(f"{found.programs} programs", min(1.0, found.seconds / plan.seconds))
        for future in wait(pending).done:
            found.add(future.result())
        found.seconds = before + time.monotonic() - started
    except BaseException:
        for process in list((pool._processes or {}).values()):
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
    if state is not None:
        state.unlink(missing_ok=True)
    return found


def _batches(found: Findings) -> Iterator[int]:
    number = found.batches
    while True:
        yield number
        number += 1


def _serve() -> None:
    """A worker is ended by its parent, not by the keyboard, and does not outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _batch(plan: Plan, number: int) -> Findings:
    """The cases of one batch, up to the first that fails."""
    found, config = Findings(batches=1), resolve_config(plan.preset, plan.overrides)
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
            write_file(name, replay_file(small, name, plan.simulator, why))
            found.failures.append((name, why))
            break  # One of a batch is enough; making it small took long.
    return found


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
