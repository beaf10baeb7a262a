"""Points that end their workers, for tests of sweeps."""

import os
import signal
from pathlib import Path

from celosia.lab.sweep.point import Done, Point, line_of

__all__ = ["killing_compute"]


def killing_compute(point: Point) -> Done:
    """A line of nothing but the first choice, from a worker that dies at the first odd one."""
    (value,) = point.choices.values()
    mark = Path(os.environ["MORTAL_WORK"], str(value))
    if value % 2 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return Done(line_of(point, cycles=value, read_bytes=1, write_bytes=1))
