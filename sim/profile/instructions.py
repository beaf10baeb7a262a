"""The instructions that own the cycles of each unit.

An operation has its unit from when the unit took it, or was done with the one before, until it is
done; so the cycles of a unit are each of one operation at most.  The array is different: its cycles
all belong to products, those before a product to the next one, which waits for something.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from celosia.sim.profile.log import NEVER, Operations, Spans
from celosia.sim.profile.profile import Profile

__all__ = ["UNITS", "Unit", "owner_counts", "owners_between", "unit_operations"]

UNITS: Final[Mapping[str, str]] = {
    "execute": "array",
    "load": "DMA read",
    "store": "DMA write",
    "transform": "transform unit",
}
"""What works on the operations of each queue."""


@dataclass(frozen=True, eq=False)
class Unit:
    """The operations of one queue and what its unit spends on each."""

    command: NDArray[np.int64]
    begin: NDArray[np.int64]
    """The first cycle in which the unit is its alone."""
    end: NDArray[np.int64]
    """One more than the last one."""
    waited: NDArray[np.int64]
    """Cycles in the queue."""
    lost: NDArray[np.int64]
    """Cycles of the array between the product before and this one; 0 for what is no product."""

    @property
    def cycles(self) -> NDArray[np.int64]:
        """Cycles of its unit that each operation has."""
        return self.end - self.begin


def unit_operations(profile: Profile) -> dict[str, Unit]:
    """The operations of each unit, by the name of its queue; those that no unit took are left out.

    One that was not done has its unit until the end of the run.
    """
    return {name: _unit(name, queue, profile.cycles) for name, queue in profile.queues.items()}


def _unit(name: str, queue: Operations, cycles: int) -> Unit:
    product = name == "execute"
    begin, end = (queue.began, queue.read) if product else (queue.started, queue.done)
    end = np.where(end == NEVER, np.maximum(cycles - 1, begin), end)
    over = begin != NEVER
    begin, end = begin[over] + 1, end[over] + 1
    before = np.concatenate([[0], end[:-1]])
    alone = np.minimum(np.maximum(begin, before), end)
    lost = alone - before if product else np.zeros_like(alone)
    waited = (queue.started - queue.entered)[over]
    return Unit(queue.command[over], alone, end, waited, lost)


def owner_counts(spans: Spans, owners: int, moments: NDArray[np.int64]) -> NDArray[np.int64]:
    """Cycles of each of so many owners before each of `moments`: a row for each moment."""
    counts = np.zeros((len(moments), owners), np.int64)
    if not len(spans.start):
        return counts
    lengths = np.diff(spans.start, append=spans.start[-1])
    place = np.searchsorted(spans.start, moments, side="right") - 1
    known = place >= 0
    inside = np.where(known, moments - spans.start[np.maximum(place, 0)], 0)
    for owner in range(owners):
        own = spans.owner == owner
        before = np.concatenate([[0], np.cumsum(np.where(own, lengths, 0))])
        counts[:, owner] = np.where(known, before[np.maximum(place, 0)], 0)
        counts[:, owner] += np.where(known & own[np.maximum(place, 0)], inside, 0)
    return counts


def owners_between(
    spans: Spans, owners: int, begin: NDArray[np.int64], end: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Cycles of each of so many owners from `begin` to before `end`: a row for each pair."""
    return owner_counts(spans, owners, end) - owner_counts(spans, owners, begin)
