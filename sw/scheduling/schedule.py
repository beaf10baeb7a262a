"""Programs in order of meaning to programs in the order of the queues.

A permutation under dependences.  Operations of the array keep their order; the others are merged
between them.  Time is that of the array: cycles of the products so far.  So what repeats in the
program repeats in the schedule, and becomes a loop.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.sw.ir.program import Load, LoadParameters, Multiply, Op, Products
from celosia.sw.lowering.writer import Written
from celosia.sw.planning.queues import loads_ahead
from celosia.sw.scheduling.dependences import dependences
from celosia.sw.scheduling.waits import with_waits

__all__ = ["MAX_LEAD", "schedule"]

MAX_LEAD: Final = 4096
"""Cycles of products that a load is issued before its first use, at most."""


def schedule(ops: Sequence[Written], config: AcceleratorConfig) -> tuple[Written, ...]:
    """`ops` in an order in which units rarely wait for each other.

    Only the number of stores that a load waits for is new.
    """
    order = _Scheduler(ops, config).order()
    return tuple(with_waits([ops[index] for index in order]))


@dataclass
class _Scheduler:
    """Which operations are in the schedule so far."""

    ops: Sequence[Written]
    config: AcceleratorConfig

    def order(self) -> list[int]:
        """Indices of operations in the order of the schedule."""
        plain = [written.op for written in self.ops]
        self._needs = dependences(plain, self.config)
        self._done = [False] * len(plain)
        self._order: list[int] = []
        self._loads = deque(i for i, op in enumerate(plain) if _is_load(op))
        self._first_use = _first_uses(plain, self._needs)
        self._ahead: list[int] = []
        clock, self._clock_of = 0, dict[int, int]()
        for index, op in enumerate(plain):
            self._clock_of[index] = clock
            clock += _cycles(op)
        for index, op in enumerate(plain):
            if _is_load(op):
                continue
            self._demand(index)
        for index in range(len(plain)):
            self._demand(index)
        return self._order

    def _demand(self, index: int) -> None:
        """Put an operation into the schedule, behind all that it needs."""
        waiting = [index]
        while waiting:
            needed = [each for each in self._needs[waiting[-1]] if not self._done[each]]
            if needed:
                waiting.append(needed[0])
                continue
            last = waiting.pop()
            if not self._done[last]:
                if not waiting and isinstance(self.ops[last].op, Multiply | Products):
                    self._supply(last)
                self._put(last)

    def _put(self, index: int) -> None:
        self._done[index] = True
        self._order.append(index)

    def _supply(self, product: int) -> None:
        """Loads ahead of `product`, which comes next: as many as their queue holds.

        A load whose rows are not free lets others behind it pass.
        """
        self._ahead = [load for load in self._ahead if self._first_use[load] > product]
        kept: list[int] = []
        room = loads_ahead(self.config) - len(self._ahead)
        while self._loads and room > 0 and len(kept) < self.config.load_queue:
            load = self._loads.popleft()
            if self._done[load]:
                continue
            if self._clock_of[load] > self._clock_of[product] + MAX_LEAD:
                kept.append(load)
                break
            if all(self._done[each] for each in self._needs[load]):
                self._put(load)
                self._ahead.append(load)
                room -= 1
            else:
                kept.append(load)
        self._loads.extendleft(reversed(kept))


def _first_uses(ops: Sequence[Op], needs: Sequence[tuple[int, ...]]) -> dict[int, int]:
    """The first operation that needs each load."""
    found: dict[int, int] = {}
    for index, before in enumerate(needs):
        for each in before:
            if _is_load(ops[each]):
                found.setdefault(each, index)
    return {index: found.get(index, len(ops)) for index, op in enumerate(ops) if _is_load(op)}


def _is_load(op: Op) -> bool:
    return isinstance(op, Load | LoadParameters)


def _cycles(op: Op) -> int:
    """Cycles that the array works on `op`, about."""
    match op:
        case Multiply():
            return op.rows
        case Products():
            return op.rows * op.count
        case _:
            return 0
