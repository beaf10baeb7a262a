"""What waits in the queues of an accelerator until somebody needs to know when it is over."""

from collections.abc import Sequence
from dataclasses import dataclass

from celosia.sw.timeline.bus import Transfer
from celosia.sw.timeline.local import LocalTimes, Rows
from celosia.sw.timeline.units import TransformWork

__all__ = ["QueuedLoad", "QueuedStore", "QueuedTransform"]


@dataclass(frozen=True, slots=True)
class QueuedLoad:
    """A load that has not been followed yet."""

    head: float
    """The cycle in which it is at the head of its queue, if nothing is before it."""
    space: LocalTimes
    rows: Rows
    move: Transfer
    segments: int
    after: int
    """The number of the store that is over before it; 0: it waits for none."""


@dataclass(frozen=True, slots=True)
class QueuedStore:
    """A store that has not been followed yet."""

    head: float
    space: LocalTimes
    rows: Rows
    move: Transfer
    words: int
    parameters: Rows | None
    transform: int
    """The number of the last transform that writes its rows; 0: they are there at `head`."""


@dataclass(frozen=True, slots=True)
class QueuedTransform:
    """A transform that has not been followed yet."""

    begin: float
    """The cycle in which its rows are there and its places free, at its queue's head."""
    work: TransformWork
    space: LocalTimes
    rows: Rows
    targets: Sequence[Rows]
    residual: Rows | None
    parameters: Sequence[Rows]
    read_rows: Sequence[Rows]
    """What it reads in the scratchpad."""
    sum_rows: Sequence[Rows]
    """What it reads in the accumulator."""

    def meets(self, bank: int, size: int, until: float) -> bool:
        """Whether it could come to this bank of the scratchpad, of so many rows, before `until`."""
        writes = until > self.begin + self.work.latency
        reads = until > self.begin
        return (reads and any(row // size == bank for row, _ in self.read_rows)) or (
            writes and any(row // size == bank for row, _ in self.targets)
        )
