"""Runs of nextpnr that last for hours: how far they are, and which do not get there."""

import re
import time
from collections.abc import Sequence
from typing import Final

from celosia.sim.export.silicon.synthesis.jobs import Job
from celosia.sim.support.progress import Progress

__all__ = ["PATIENCE", "Watch", "how_far", "why_stuck"]

PATIENCE: Final = 40
"""Iterations of the router in which the wires that are used twice do not become fewer, after which
a run is given up."""
_ITERATION: Final = re.compile(r"^Info: +iter=\d+ wires=\d+ overused=(\d+)", re.MULTILINE)
_ROUTING: Final = "Running router"


class Watch:
    """Looks at runs of nextpnr, tells how far they are, and gives some up.

    To be called with each run now and then: true if it shall be stopped.
    """

    def __init__(self, hours: float, tell: Progress):
        self.given_up: dict[str, str] = {}
        """Why, by the name of the job."""
        self._hours = hours
        self._tell = tell
        self._begun: dict[str, float] = {}
        self._far: dict[str, str] = {}
        self._done = 0.0

    def __call__(self, job: Job) -> bool:
        now, said = time.monotonic(), job.said()
        took = now - self._begun.setdefault(job.name, now)
        self._far[job.name] = how_far(said)
        self._say()
        reason = why_stuck(said)
        if not reason and took > 3600 * self._hours:
            reason = f"it has taken {self._hours:g} hours, {self._far[job.name]}"
        if reason:
            self.given_up[job.name] = reason
        return bool(reason)

    def ended(self, job: Job, done: float) -> None:
        """Tell that `job` has ended, and that `done` of all have, 0..1."""
        self._far.pop(job.name, None)
        self._done = done
        self._say()

    def _say(self) -> None:
        runs = [f"{name}: {far}" for name, far in self._far.items()]
        self._tell("; ".join(runs) or "placing and routing", self._done)


def how_far(said: str) -> str:
    """What nextpnr is at, from what it has said until now."""
    if twice := _used_twice(said):
        return f"routing, {twice[-1]:,} wires are used twice after {len(twice)} iterations"
    return "routing" if _ROUTING in said else "placing"


def why_stuck(said: str) -> str:
    """Why waiting for a router that has said this is of no use; empty if it may be."""
    twice = _used_twice(said)
    if not twice:
        return ""
    fewest = min(twice)
    since = len(twice) - 1 - twice.index(fewest)
    if since < PATIENCE:
        return ""
    return (
        f"the router does not converge: {fewest:,} wires are used twice at best, "
        f"and were so {since} iterations ago"
    )


def _used_twice(said: str) -> Sequence[int]:
    """Wires that more than one net uses, after each iteration of the router."""
    return [int(number) for number in _ITERATION.findall(said)]
