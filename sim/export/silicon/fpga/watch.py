"""Runs of nextpnr that last for hours: how far they are, and which do not get there."""

import re
import time
from collections.abc import Sequence
from typing import Final

from celosia.sim.export.silicon.synthesis.jobs import Job
from celosia.sim.support.progress import Progress

__all__ = ["PATIENCE", "Watch", "how_far", "why_stuck"]

PATIENCE: Final = 200
"""Thousands of arcs that the router lays without fewer being left, after which a run is given
up."""
_LINE: Final = re.compile(r"^Info: +\d+ \|(?: +\d+ +\d+ \|){2} +(\d+)\|", re.MULTILINE)
"""What the router says after each thousand: the arcs that are left, behind those that it laid."""
_ROUTING: Final = "Routing.."


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
        self._done: float | None = None

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
    if left := _left(said):
        return f"routing, {left[-1]:,} arcs are left after {1000 * len(left):,} steps"
    return "routing" if _ROUTING in said else "placing"


def why_stuck(said: str) -> str:
    """Why waiting for a router that has said this is of no use; empty if it may be."""
    left = _left(said)
    if not left:
        return ""
    fewest = min(left)
    since = len(left) - 1 - left.index(fewest)
    if since < PATIENCE:
        return ""
    return (
        f"the router does not get to an end: {fewest:,} arcs are left at best, "
        f"and were so {1000 * since:,} arcs ago"
    )


def _left(said: str) -> Sequence[int]:
    """Arcs between two pins that are not laid yet, after each thousand that the router laid."""
    return [int(number) for number in _LINE.findall(said)]
