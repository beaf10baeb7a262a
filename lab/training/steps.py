"""What trainings need before they begin, and what they show while they last."""

import time
from importlib.util import find_spec
from typing import Final

from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.extras import installed_by
from celosia.sim.support.progress import Progress

__all__ = ["EXTRA", "Steps", "check_training"]

EXTRA: Final = ("jax", "optax")
"""What the extra `training` has, and nothing else needs."""


def check_training() -> None:
    """Raise `EnvironmentProblem` without the packages that train."""
    if missing := [name for name in EXTRA if find_spec(name) is None]:
        raise EnvironmentProblem(
            f"{' and '.join(missing)}: not installed; {installed_by('training')}"
        )


class Steps:
    """Shows how far a training is, its loss and the time that is left."""

    def __init__(self, tell: Progress, steps: int):
        self._tell = tell
        self._steps = steps
        self._begun: tuple[int, float] | None = None

    def __call__(self, done: int, loss: float) -> None:
        now = time.monotonic()
        if self._begun is None:
            self._begun = done, now
        first, begun = self._begun
        left = (now - begun) / max(done - first, 1) * (self._steps - done) / 60
        text = f"step {done:,} of {self._steps:,}, loss {loss:.2f}, {left:,.0f} minutes left"
        self._tell(text, done / self._steps)
