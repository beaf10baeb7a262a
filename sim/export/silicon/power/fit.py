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
_QUIET: Final = 8
"""Blocks without events from which on they alone say what a cycle takes."""
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
    quiet = ~np.any([*columns.values(), np.zeros(len(spent))], axis=0)
    known = {IDLE: 0.0}
    if int(quiet.sum()) >= _QUIET:
        # What a cycle takes is seen there alone: beside events, it cannot be told from what they
        # take before and behind their cycles.
        known[IDLE] = float(spent[quiet].mean()) / BLOCK
        spent = spent - known[IDLE] * BLOCK
    else:
        columns[IDLE] = np.full(len(spent), float(BLOCK))
    energies = known | _nearest(columns, spent)
    happened = [name for name, count in counts.items() if count.any()]
    return {name: energies.get(name, 0.0) for name in [*happened, IDLE]}


def _nearest(
    columns: Mapping[str, NDArray[np.floating[Any]]], spent: NDArray[np.floating[Any]]
) -> dict[str, float]:
    """What is nearest to `spent`, none of it negative, and in sum the same."""
    left = dict(columns)
    while left:
        matrix = np.stack([*left.values()], axis=1)
        scale = matrix.max(axis=0)
        found = np.linalg.lstsq(matrix / scale, spent, rcond=None)[0] / scale
        if (found >= 0).all():
            explained = float((matrix @ found).sum())
            factor = float(spent.sum()) / explained if explained else 1.0
            return {name: float(pj) * factor for name, pj in zip(left, found, strict=True)}
        del left[[*left][int(np.argmin(found * scale))]]
    return {}


def _spread(counts: NDArray[np.floating[Any]], stages: int) -> NDArray[np.floating[Any]]:
    return np.convolve(counts, np.full(stages, 1 / stages), mode="valid")


def _blocks(values: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    whole = len(values) // BLOCK * BLOCK
    return values[:whole].reshape(-1, BLOCK).sum(axis=1)
