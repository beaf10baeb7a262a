"""Programs in order of meaning to programs in the order of the queues.

A permutation under dependences.  Operations of the array keep their order; drains and
normalizations come between them (`celosia.sw.scheduling.trickle`), then loads, ahead of who needs
them as far as their rows, their data and their queue allow.  Time is that of the array: cycles of
the products so far.  So what repeats in the program repeats in the schedule, and becomes a loop.
"""

from bisect import bisect_right
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.sw.ir.program import Load, Op, Store, Transform, Unit, Written
from celosia.sw.planning.queues import loads_ahead
from celosia.sw.scheduling.dependences import dependences
from celosia.sw.scheduling.stored import Stored
from celosia.sw.scheduling.trickle import array_cycles, trickled
from celosia.sw.scheduling.waits import with_waits

__all__ = ["MAX_LEAD", "schedule"]

MAX_LEAD: Final = 4096
"""Cycles of products that a load is issued before its first use, at most."""
_LEAD_NESTS: Final = 3
"""The most nests of products that a load is issued ahead of its first use, where nests are long.
More would overflow the queue of loads, and loads would then issue at irregular points, which
defeats the compression of loops."""
_LONG_NEST: Final = 1024
"""Cycles of a nest whose loads take far less time than it does itself."""
_SETTLING: Final = 4096
"""Cycles of products after a store before its data are loaded, if they can wait: whatever waits at
the head of the queue of loads holds up those behind."""


def schedule(
    ops: Sequence[Written],
    config: AcceleratorConfig,
    *,
    overlap: bool = True,
    moving: Collection[str] = (),
) -> tuple[Written, ...]:
    """`ops` in an order in which units rarely wait for each other.

    Without `overlap`, results of a block leave before the products of the next one.
    Of the tensors `moving`, a load may read what any store has written (`Graph.moving`).  Only the
    number of stores that a load waits for is new.
    """
    loads = _Loads([written.op for written in ops], config, moving, overlap=overlap)
    found = list(loads.order())
    clocks = [(clock, clock) for _, clock in found]
    return tuple(
        with_waits([ops[index] for index, _ in found], clocks, _SETTLING, again=True, moving=moving)
    )


class _Loads:
    """Loads, and the steps between which they come: all operations that are no loads."""

    def __init__(
        self,
        ops: Sequence[Op],
        config: AcceleratorConfig,
        moving: Collection[str],
        *,
        overlap: bool,
    ):
        self.ops, self.config, self._stored = ops, config, Stored(moving)
        self.needs = dependences(ops, config, moving)
        order = trickled(ops, self.needs, config.dim) if overlap else range(len(ops))
        self.steps = [index for index in order if ops[index].unit is not Unit.LOAD]
        self._place = {index: place for place, index in enumerate(self.steps)}
        self._times = [0, *accumulate(array_cycles(ops[index]) for index in self.steps)]
        self._need: dict[int, int] = {}
        """The first step behind each load: the one that needs it."""
        for place, index in enumerate(order):
            if ops[index].unit is Unit.LOAD:
                self._need[index] = place - len(self._need)
        self._issued: set[int] = set()
        self._room = _room(ops, config)

    def order(self) -> Iterator[tuple[int, int]]:
        """Indices, each with the clock; a load comes at the latest before who needs it."""
        waiting = deque(self._need)
        ahead: list[int] = []
        """When the loads that were issued early are needed."""
        for number, step in enumerate(self.steps):
            now = self._times[number]
            ahead = [need for need in ahead if need > number]
            while waiting and self._need[waiting[0]] <= number:
                yield self._issue(waiting.popleft()), now
            if self._may_come_early(number):
                early = self._early(waiting, self._room - len(ahead), number)
                ahead += [self._need[load] for load in early]
                yield from ((load, now) for load in early)
            yield step, now
        yield from ((load, self._times[-1]) for load in waiting)

    def _may_come_early(self, number: int) -> bool:
        """Whether loads come ahead before a step: behind nests, and wherever none are left."""
        behind = number == 0 or array_cycles(self.ops[self.steps[number - 1]]) > 0
        return behind or self._times[number] == self._times[-1]

    def _issue(self, load: int) -> int:
        self._issued.add(load)
        return load

    def _early(self, waiting: deque[int], most: int, number: int) -> list[int]:
        """Take up to `most` loads out of the first ones that may come before a step."""
        early: list[int] = []
        kept: list[int] = []
        last = self._last_early(number)
        while waiting and len(early) < most and len(early) + len(kept) < self.config.load_queue:
            load = waiting[0]
            if self._times[self._need[load]] > last:
                break  # Those behind it are needed no sooner.
            waiting.popleft()
            if all(self._is_over(load, each, number) for each in self.needs[load]):
                early.append(self._issue(load))
            else:
                kept.append(load)
        waiting.extendleft(reversed(kept))
        return early

    def _last_early(self, number: int) -> int:
        """When loads are needed at the latest that come before a step: not far ahead."""
        times, now = self._times, self._times[number]
        nest = times[min(bisect_right(times, now), len(times) - 1)] - now
        return now + (min(MAX_LEAD, _LEAD_NESTS * nest) if nest >= _LONG_NEST else MAX_LEAD)

    def _is_over(self, load: int, each: int, number: int) -> bool:
        """Whether what a load must follow comes before a step, if it is a store long before."""
        if self.ops[each].unit is Unit.LOAD:
            return each in self._issued
        settling = _SETTLING if self._waits_for(load, each) else 0
        place = self._place[each]
        return place < number and self._times[number] >= self._times[place] + settling

    def _waits_for(self, load: int, store: int) -> bool:
        """Whether a load reads what a store writes."""
        stored, loaded = self.ops[store], self.ops[load]
        if not (isinstance(stored, Store) and isinstance(loaded, Load)):
            return False
        return self._stored.meet(stored.view, loaded.view)


def _room(ops: Sequence[Op], config: AcceleratorConfig) -> int:
    """Loads that are issued ahead of their use, at most.

    Measured: from a full queue, attention of 12 heads, l = 512, is 0.3 % faster than with a quarter
    of it free, but a product alone, whose loads set the pace, up to 3 % slower.
    """
    transforms = any(isinstance(op, Transform) for op in ops)
    return config.load_queue if transforms else loads_ahead(config)
