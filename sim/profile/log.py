"""When each operation of a run did what: the log of `harness/log.h` as arrays.

Cycles are counted from that of the first command on, and one in which an event happens is its last:
a product that began in cycle 10 and had read in cycle 26 had the array for 16 cycles.
"""

import ctypes
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.config import AcceleratorConfig
from celosia.isa.registers.queues import QUEUES
from celosia.sim.profile.resources import RESOURCES, activities
from celosia.sim.verilator.harness.binding import (
    LOG_ACTIVITIES,
    LOG_SLOTS,
    LoggedOperation,
    LogView,
    OwnerSpan,
)

__all__ = [
    "MOST_OPERATIONS",
    "MOST_SPANS",
    "NEVER",
    "Operations",
    "RunLog",
    "Spans",
    "read_log",
]

MOST_OPERATIONS: Final = 2 << 20
"""The most operations of a queue that are logged: 24 bytes each."""
MOST_SPANS: Final = 8 << 20
"""The most spans that are logged: 8 bytes each."""
NEVER: Final = -1
"""The cycle of a moment that an operation has not passed."""
_TAGS: Final = 1 << 32


@dataclass(frozen=True, eq=False)
class Operations:
    """The operations of one queue in order; each array has an element for each operation."""

    command: NDArray[np.int64]
    """The index of its command in the program."""
    entered: NDArray[np.int64]
    """The cycle in which its queue takes it."""
    started: NDArray[np.int64]
    """The cycle in which its unit takes it: it waits for nothing more."""
    began: NDArray[np.int64]
    """The cycle in which the array turns to it, if it is a product."""
    read: NDArray[np.int64]
    """The cycle in which it has read all: a product has left the array."""
    done: NDArray[np.int64]
    """The cycle in which it has written all, and memory has answered."""

    def __len__(self) -> int:
        return len(self.command)


@dataclass(frozen=True, eq=False)
class Spans:
    """The owners of a resource's cycles: `owner` from `start` on; -1: nothing is busy."""

    start: NDArray[np.int64]
    owner: NDArray[np.int64]


@dataclass(frozen=True, eq=False, kw_only=True)
class RunLog:
    """What a run did when."""

    cycles: int
    queues: dict[str, Operations]
    owners: dict[str, Spans]
    """Spans of owners of each resource, by the resource's name (`RESOURCES`)."""
    activity: dict[str, NDArray[np.int64]]
    """Busy cycles of each of `activities`, in one slot of `slot_cycles` after the other."""
    slot_cycles: int
    lost: int
    """Operations and spans that there was no place for."""


def read_log(view: LogView, config: AcceleratorConfig, cycles: int, first_tag: int) -> RunLog:
    """A copy of what `view` shows of a run whose first command had the number `first_tag`."""
    first = view.first_edge
    queues = {
        name: _operations(view.operations[index], view.counts[index], first, first_tag)
        for index, name in enumerate(QUEUES)
        if view.counts[index]
    }
    spans = _structures(view.spans, view.span_count, OwnerSpan)
    owners = {
        resource: _owner_spans(spans[spans["resource"] == index], first)
        for index, resource in enumerate(RESOURCES)
    }
    slots = np.ctypeslib.as_array(view.slots, (LOG_SLOTS, LOG_ACTIVITIES)).astype(np.int64)
    used = -(-cycles // view.slot_edges) if cycles else 0
    names = activities(config)
    return RunLog(
        cycles=cycles,
        queues=queues,
        owners=owners,
        activity={name: slots[:used, index].copy() for index, name in enumerate(names)},
        slot_cycles=view.slot_edges,
        lost=view.lost,
    )


def _structures(pointer: ctypes._Pointer, count: int, kind: type[ctypes.Structure]) -> np.ndarray:
    if not count:
        return np.empty(0, np.dtype(kind))
    return np.ctypeslib.as_array(pointer, (count,)).copy()


def _operations(pointer: ctypes._Pointer, count: int, first: int, first_tag: int) -> Operations:
    found = _structures(pointer, count, LoggedOperation)
    edges = found["edges"].astype(np.int64)
    cycles = np.where(edges == _TAGS - 1, NEVER, edges - first)
    command = (found["tag"].astype(np.int64) - first_tag) % _TAGS
    return Operations(command, *(column.copy() for column in cycles.T))


def _owner_spans(found: np.ndarray, first: int) -> Spans:
    return Spans(found["edge"].astype(np.int64) - first, found["owner"].astype(np.int64) - 1)
