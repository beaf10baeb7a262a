"""Where in a run it is worth to look: a window for each thing that happens rarely."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["CYCLES", "WARM_UP", "choose_windows"]

CYCLES: Final = 512
"""The cycles of a window, behind its first `WARM_UP`: registers of no known value get one there."""
WARM_UP: Final = 96
_ENOUGH: Final = 48.0
"""Events of a kind for which no further window is chosen, in cycles of them."""


def choose_windows(
    events: Mapping[str, NDArray[np.floating[Any]]], first: int, names: Sequence[str]
) -> list[tuple[int, int]]:
    """Windows of a run, START:STOP, that each of `names` happens in, of those that happen at all.

    `events` are of cycles from `first` on.  The rarest ones choose first; the middle one is in the
    middle of a window.
    """
    last = len(next(iter(events.values())))
    happening = {name: np.flatnonzero(events[name]) for name in names if events[name].any()}
    chosen: list[tuple[int, int]] = []
    for cycles in sorted(happening.values(), key=len):
        seen = sum(int(((cycles >= start) & (cycles < stop)).sum()) for start, stop in chosen)
        if seen >= min(_ENOUGH, len(cycles) / 2):
            continue
        middle = int(cycles[len(cycles) // 2])
        start = min(max(middle - CYCLES // 2, WARM_UP), last - CYCLES)
        chosen.append((start, start + CYCLES))
    return [(first + start - WARM_UP, first + stop) for start, stop in sorted(chosen)]
