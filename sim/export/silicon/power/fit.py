"""Energies of events, out of energies of cycles.

Pipelines spend for an event in each cycle until it has left them, so that an event counts in parts
in so many cycles from its own on.  Of blocks of cycles, energies are compared with what happened:
those of events are the ones that come nearest to all blocks, none of them negative.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["BLOCK", "IDLE", "Window", "fit"]

BLOCK: Final = 32
"""Cycles that are taken together."""
IDLE: Final = "idle"
"""What a cycle takes in which nothing happens."""


@dataclass(frozen=True)
class Window:
    """Cycles that follow each other."""

    events: Mapping[str, NDArray[np.floating[Any]]]
    """How often each happened in each cycle."""
    pj: NDArray[np.floating[Any]]
    """What was spent in each cycle."""


def fit(windows: Sequence[Window], events: Sequence[str], stages: int = 1) -> dict[str, float]:
    """Picojoules of one of each of `events`, and of `IDLE`: of those that happened.

    An event is `stages` cycles long.  No energy is negative, and together they are what all
    `windows` spent, but for their first cycles.
    """
    spent = np.concatenate([_blocks(window.pj[stages - 1 :]) for window in windows])
    counts = {
        name: np.concatenate([_blocks(_spread(window.events[name], stages)) for window in windows])
        for name in events
    }
    columns = {name: count for name, count in counts.items() if count.any()}
    columns[IDLE] = np.full(len(spent), float(BLOCK))
    while True:
        matrix = np.stack([*columns.values()], axis=1)
        scale = matrix.max(axis=0)
        found = np.linalg.lstsq(matrix / scale, spent, rcond=None)[0] / scale
        if (found >= 0).all():
            break
        del columns[[*columns][int(np.argmin(found * scale))]]
        if not columns:
            return dict.fromkeys([*counts, IDLE], 0.0)
    explained = float((matrix @ found).sum())
    factor = float(spent.sum()) / explained if explained else 1.0
    energies = {name: float(value) * factor for name, value in zip(columns, found, strict=True)}
    happened = [name for name, count in counts.items() if count.any()]
    return {name: energies.get(name, 0.0) for name in [*happened, IDLE]}


def _spread(counts: NDArray[np.floating[Any]], stages: int) -> NDArray[np.floating[Any]]:
    return np.convolve(counts, np.full(stages, 1 / stages), mode="valid")


def _blocks(values: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    whole = len(values) // BLOCK * BLOCK
    return values[:whole].reshape(-1, BLOCK).sum(axis=1)
