"""Work that ends its worker, for tests of those who give work to workers."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Task", "double"]


@dataclass(frozen=True)
class Task:
    """A number, in whose folder each process that begins with it leaves a file."""

    number: int
    folder: str
    deaths: int = 0
    """How often its worker dies before it ends."""

    def begun(self) -> int:
        """How many have begun with it."""
        return len(list(Path(self.folder).glob(f"{self.number}-*")))


def double(task: Task) -> int:
    """Twice the number; kills its process as often as the task says."""
    begun = task.begun()
    Path(task.folder, f"{task.number}-{begun}").touch()
    if begun < task.deaths:
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * task.number
