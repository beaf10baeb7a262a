"""Transforms that have been followed, perhaps before products were known that come first."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from celosia.isa.latencies import TRANSFORM_WORDS
from celosia.sw.timeline.banks import Banks, Served
from celosia.sw.timeline.queued import QueuedTransform
from celosia.sw.timeline.units import TransformUnit

__all__ = ["FollowedTransforms"]

_KEPT: Final = 16
"""Transforms that may be taken back: the last ones."""


@dataclass(frozen=True, slots=True)
class _Followed:
    """A transform with its number and its times, and the unit as it was before."""

    number: int
    queued: QueuedTransform
    before: TransformUnit
    times: tuple[float, float]
    """When it has read its rows, and when its results are in their banks."""


class FollowedTransforms:
    """Transforms at the banks of the scratchpad and of sums, followed one after the other.

    Some are followed because a load needs to know who is at its bank; a product that needs the load
    comes later, and yet before them at a bank.  Those are taken back, and followed anew when
    somebody needs them.
    """

    def __init__(self, banks: Banks, sums: Banks):
        self._banks, self._sums = banks, sums
        self._unit = TransformUnit()
        self._last: deque[_Followed] = deque(maxlen=_KEPT)

    def follow(self, queued: QueuedTransform, number: int) -> tuple[float, float]:
        """When the transform of this number has read its rows, and when its results are there."""
        before, unit, work = self._unit, self._unit.copy(), queued.work
        self._unit = unit
        start, over = unit.begin(queued.begin, work)
        idle = min(float(work.latency), start - before.taken)
        over += self._own_results(queued, over - start, idle)
        steps = self._steps(queued, number, start, over)
        read, end = self._place(queued, number, steps)
        read = unit.finish(work, start, read)
        self._last.append(_Followed(number, queued, before, (read, end)))
        return read, end

    def disturbed(self, settled: int) -> int:
        """The first transform behind the one that is `settled` to follow anew; 0: there is none."""
        if not self._banks.disturbed and not self._sums.disturbed:
            return 0
        found = [each for each in (self._banks.disturbed, self._sums.disturbed) if each]
        self._banks.disturbed = self._sums.disturbed = 0
        known = [each.number for each in self._last if each.number > settled]
        return next((number for number in known if number >= min(found)), 0)

    def take_back(self) -> tuple[QueuedTransform, tuple[float, float]]:
        """Forget the last transform; returns it, and the times that it had."""
        last = self._last.pop()
        self._unit = last.before
        self._banks.take_back(last.number)
        self._sums.take_back(last.number)
        return last.queued, last.times

    def _own_results(self, queued: QueuedTransform, cycles: float, idle: float) -> float:
        """By how much longer a transform of so many `cycles` takes that meets its own results.

        They come first at their bank, after some `idle` cycles.  A step waits there whose operand
        are two rows, as do all where the bank has more to serve than there are cycles; else steps
        are between results.
        """
        work, size, waits = queued.work, self._banks.rows, 0.0
        for row, last in queued.read_rows:
            places = zip(queued.targets, work.accesses, strict=True)
            results = sum(count for (place, _), count in places if place // size == row // size)
            both = last - row == work.steps and queued.residual is not None
            if results and (both or work.passes * (last - row) + results > cycles):
                waits = max(waits, results * max(0.0, 1 - idle / cycles))
        return waits

    def _steps(
        self, queued: QueuedTransform, number: int, start: float, over: float
    ) -> list[Served]:
        """When the steps are taken that could be from `start` to `over`: rows wait for banks."""
        work, found = queued.work, list[list[Served]]()
        wanted = [
            (banks, row, work.passes * (last - row))
            for banks, reads in ((self._banks, queued.read_rows), (self._sums, queued.sum_rows))
            for row, last in reads
        ]
        for banks, row, count in wanted:
            served = banks.served(row, start, over, count)
            found.append([(begin, end, rate * work.steps / count) for begin, end, rate in served])
        for banks, row, count in wanted:
            banks.claim(row, start, over, count, owner=number)
        return max(found, key=lambda each: each[-1][1])

    def _place(
        self, queued: QueuedTransform, number: int, steps: Sequence[Served]
    ) -> tuple[float, float]:
        """When the last of `steps` is taken, and when all results are in their banks.

        A step waits until there is room for its results, and so do all behind it.
        """
        work, latency, read = queued.work, queued.work.latency, steps[-1][1]
        end = read + latency
        for port, (rows, count) in enumerate(zip(queued.targets, work.accesses, strict=True)):
            words, placed = count / work.steps, self._unit.placed
            arrivals = [
                (begin + latency, until + latency, rate * words) for begin, until, rate in steps
            ]
            room = max(0.0, TRANSFORM_WORDS - latency * words * work.steps / work.cycles)
            # Those of transforms before are taken for as many as would fill what room is left.
            before = placed[port] - max(0.0, TRANSFORM_WORDS - count)
            served, late = self._banks.claim_behind(
                rows[0], arrivals, placed[port], room, owner=number
            )
            read = max(read, steps[-1][1] + late, before, _when(served, count - TRANSFORM_WORDS))
            placed[port] = served[-1][1]
            end = max(end, placed[port])
        return read, end


def _when(served: Sequence[Served], count: float) -> float:
    """When so many accesses have been served; 0: none has to be."""
    for begin, end, rate in served:
        if count <= 0:
            break
        if (part := rate * (end - begin)) >= count:
            return begin + count / rate
        count -= part
    return 0.0
