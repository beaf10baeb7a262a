"""What is run while operands are recorded: layers of MiniLM with its published weights."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from celosia.sim.run.options.options import RunOptions
from celosia.sim.workloads.details import Encoder

__all__ = ["RUNS", "RecordedRun"]

_LAYER_CYCLES: Final = 205_000
"""The cycles of one of the six layers with either text on `base`, about."""


@dataclass(frozen=True)
class RecordedRun:
    """A run, and where windows of it are chosen."""

    text: str
    layer: int

    @property
    def options(self) -> RunOptions:
        """The run."""
        return RunOptions(workload="encoder", details=Encoder(model="minilm", text=(self.text,)))

    @property
    def span(self) -> tuple[int, int]:
        """The cycles of its layer, about."""
        return _LAYER_CYCLES * self.layer, _LAYER_CYCLES * (self.layer + 1) + 2_000


RUNS: Final[Sequence[RecordedRun]] = (
    RecordedRun(
        "The cat sat on the mat and looked at the moon for a while, until the rain began to fall "
        "on the old roof.",
        1,
    ),
    RecordedRun(
        "Stock prices rose on Tuesday after the central bank said that it would leave interest "
        "rates unchanged for the rest of this year, as had been expected.",
        3,
    ),
)
"""Two texts, two layers: their windows are disjoint."""
