"""A run that is short enough to look at each of its cycles: attention of one small head."""

from collections.abc import Iterable, Mapping
from typing import Final

from celosia.sim.export.silicon.power.recording import Design, record
from celosia.sim.export.silicon.power.waves import Recorded
from celosia.sim.run.options.options import RunOptions
from celosia.sim.support.progress import Progress
from celosia.sim.workloads.details import Attention

__all__ = ["CYCLES", "record_short_run"]

CYCLES: Final = 800
"""Cycles from power-on that are recorded; the run takes a little longer on any array."""
_ROWS, _BLOCKS = 4, 3
"""Rows of the head, in rows of the array, and its columns."""


def record_short_run(
    design: Design, scopes: Iterable[str], tell: Progress
) -> Mapping[str, Recorded]:
    """The signals of `scopes` in the first `CYCLES` of the run.

    Memories hold nothing yet that is read, so that registers are all that is to be known.  Raises
    what `record` raises.
    """
    dim = design.config.dim
    details = Attention(heads=1, seq=_ROWS * dim, dim=_BLOCKS * dim)
    options = RunOptions(workload="attention", details=details)
    (recorded,) = record(design, options, [(0, CYCLES)], scopes, tell)
    return recorded
