"""Many cases, in several processes, for a time; goes on where an interrupted campaign was."""

import json
import multiprocessing
import operator
import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from celosia.isa.foreign_file import MIB, ForeignFileError, read_text
from celosia.sim.fuzz.batches import run_batch
from celosia.sim.fuzz.findings import Findings, Plan
from celosia.sim.support.cache import digest
from celosia.sim.support.output import write_file
from celosia.sim.support.progress import Progress

__all__ = ["fuzz"]

_MOST_FINDINGS: Final = 5
"""The number of findings that end a campaign: it is time to look at them."""


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
                pending.add(pool.submit(run_batch, plan, next(batches)))
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                found.add(future.result())
            found.seconds = before + time.monotonic() - started
            _keep(plan, state, found)
            tell(f"{found.cases} {plan.what}", min(1.0, found.seconds / plan.seconds))
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


def _name(plan: Plan) -> str:
    parts = (plan.preset, *plan.overrides, plan.simulator, str(plan.seed), plan.what, *plan.kinds)
    return digest(parts)


def _resume(plan: Plan, state: Path | None) -> Findings:
    """What an interrupted campaign of the same plan has kept."""
    if state is not None:
        with suppress(ForeignFileError, ValueError, TypeError, KeyError, RecursionError):
            kept = json.loads(read_text(state, MIB))
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
