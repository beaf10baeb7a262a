"""Where in a run it is worth to look: a window for each thing that happens rarely."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["CYCLES", "WARM_UP", "choose_windows"]

CYCLES: Final = 512
"""The cycles of a window, behind its first `WARM_UP`: registers of no known value get one there."""
WARM_UP: Final = 96
_PARTS: Final = 4
"""Parts of the times at which an event happens; each is in a window."""
_ENOUGH: Final = 48.0
"""Events of a part for which no further window is chosen, in cycles of them."""


def choose_windows(
    events: Mapping[str, NDArray[np.floating[Any]]], first: int, names: Sequence[str]
) -> list[tuple[int, int]]:
    """Windows of a run, START:STOP, that each of `names` happens in, of those that happen at all.

    `events` are of cycles from `first` on.  The rarest ones choose first: of all cycles in which an
    event happens, each of `_PARTS` parts is in a window, its middle one in the middle of that.
    """
    last = len(next(iter(events.values())))
    happening = [np.flatnonzero(events[name]) for name in names if events[name].any()]
    chosen: list[tuple[int, int]] = []
    for cycles in sorted(happening, key=len):
        for part in np.array_split(cycles, min(_PARTS, len(cycles))):
            seen = sum(int(((part >= start) & (part < stop)).sum()) for start, stop in chosen)
            if seen >= min(_ENOUGH, len(part) / 2):
                continue
            middle = int(part[len(part) // 2])
            start = min(max(middle - CYCLES // 2, WARM_UP), last - CYCLES)
            chosen.append((start, start + CYCLES))
    return [(first + start - WARM_UP, first + stop) for start, stop in sorted(chosen)]
