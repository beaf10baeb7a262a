"""Programs in order of meaning to schedules in which what is needed soonest comes first.

A permutation under dependences.  Products keep their order.  All else is merged between them by a
list scheduler, unit by unit: loads, transforms and stores alike.  Time is expected, not known, and
the queues are in order: so what nobody is in a hurry for comes a margin later than it could, for a
load or a transform that waits holds up all those behind it.

Its schedules are faster than those of `celosia.sw.scheduling.schedule`, and less regular.
"""

from bisect import insort
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.functions.table import FUNCTIONS, Function
from celosia.sw.ir.program import Load, Op, Products, Space, Transform, Unit, Written
from celosia.sw.planning.queues import loads_ahead
from celosia.sw.scheduling.bank_reads import BankReads, WeightReads
from celosia.sw.scheduling.dependences import dependences
from celosia.sw.scheduling.expected import Expected
from celosia.sw.scheduling.waits import with_waits

__all__ = ["schedule_by_need"]


MAX_LEAD: Final = 5000
"""Cycles of products that a load is issued before its first use, at most: the products of two long
nests, and not just as many."""
MARGINS: Final = {Unit.LOAD: 2048, Unit.TRANSFORM: 1024, Unit.STORE: 0}
"""Cycles by which an operation comes later than what it waits for, if it is not needed before."""
NEVER: Final = 1 << 60
_SPARE: Final = 2
"""Times that a transform of rows could be done before products need its results, or its place:
its bias comes behind weights, and it waits for banks that these and rows of A are read from.
Measured: with 3, stores of norms of 30 rows fill their queue before products."""
_SPARE_BESIDE_WEIGHTS: Final = 3
"""The same where weights are read in every cycle, for products have no more rows than a tile."""
_SHORT: Final = 32
"""Cycles of a transform that products may wait for.  Measured: of the small language model, without
such waits a step of 1 row takes 1.5 % longer, and with longer ones a step of 4 rows 0.3 %."""
_WINDOW: Final = 12
"""Operations of a unit that are compared: those that are needed soonest."""
_FAR: Final = 40
"""So many loads in a row that are needed too late end the search for others."""
_AHEAD: Final = 64
"""Cycles before the array comes to a nest when those before it leave its queue."""
_DEMANDED: Final = 512
"""Cycles that what the array waits for may be issued before it begins."""


def schedule_by_need(
    ops: Sequence[Written],
    config: AcceleratorConfig,
    moving: Collection[str] = (),
    spare_tiles: int = 0,
) -> tuple[Written, ...]:
    """`ops` in an order in which units rarely wait for each other.

    What short transforms leave is to be there `spare_tiles` tiles before products need it: loads
    and stores of what they take and leave stand in queues with weights.
    Of the tensors `moving`, a load may read what any store has written (`Graph.moving`).  Only the
    number of stores that a load waits for is new.
    """
    scheduler = _Scheduler([written.op for written in ops], config, moving, spare_tiles)
    order = scheduler.order()
    times = [(scheduler.begin[index], scheduler.end[index]) for index in order]
    return tuple(with_waits([ops[index] for index in order], times, moving=moving))


class _Scheduler:
    """The expected times of what is in the schedule so far, and what may come next."""

    def __init__(
        self, ops: Sequence[Op], config: AcceleratorConfig, moving: Collection[str], spare: int
    ):
        self.ops = ops
        self.needs = dependences(ops, config, moving)
        self._expected = Expected(config)
        self._units = [op.unit for op in ops]
        self._cycles = [self._expected.cycles(op) for op in ops]
        self._rooms = {
            Unit.TRANSFORM: config.transform_queue - 1,
            Unit.STORE: config.store_queue,
            Unit.LOAD: loads_ahead(config),
        }
        self._readers: list[list[int]] = [[] for _ in ops]
        for index, needs in enumerate(self.needs):
            for each in needs:
                self._readers[each].append(index)
        self._clock = self._clocks()
        self._dim, self._least_spare = config.dim, spare * config.dim
        self._ends = [sum(both) for both in zip(self._clock, self._cycles, strict=True)]
        """When each operation is over, by the array's clock, if that is when it begins."""
        timed = zip(ops, self._clock, self._ends, strict=True)
        products = [(op, begin, end) for op, begin, end in timed if isinstance(op, Products)]
        self._weights = WeightReads(products, config)
        self._latest = self._latest_begins(products, BankReads(products, config))
        self._bank_rows = config.accumulator_bank_rows
        self._leaves = self._bank_leaves(config.dim)
        self._missing = [len(needs) for needs in self.needs]
        self._candidates: dict[Unit, list[tuple[int, int]]] = {unit: [] for unit in self._rooms}
        """What depends on nothing that is not in the schedule: when it is needed, and its index."""
        self._queued: dict[Unit, deque[int]] = {unit: deque() for unit in self._rooms}
        """When those in a queue leave it."""
        self._free = dict.fromkeys(Unit, 0)
        self._ready = [0] * len(ops)
        """When all that an operation depends on is there, known as soon as that is scheduled."""
        self._relaxed = [0] * len(ops)
        """When an operation better begins than just then, if nobody needs it before."""
        self.begin = [-1] * len(ops)
        self.end = [0] * len(ops)
        self._order: list[int] = []
        self._now = self._stall = 0

    def _clocks(self) -> list[int]:
        """Cycles of products before each operation; for a load, before what needs it first."""
        clocks, clock = [], 0
        for unit, cycles in zip(self._units, self._cycles, strict=True):
            clocks.append(clock)
            clock += cycles if unit is Unit.EXECUTE else 0
        for index, readers in enumerate(self._readers):
            if self._units[index] is Unit.LOAD and readers:
                clocks[index] = clocks[readers[0]]
        return clocks

    def _latest_begins(
        self, products: Sequence[tuple[Products, int, int]], reads: BankReads
    ) -> list[int]:
        """When each operation must begin if the array is never to wait, by the array's clock."""
        over = self._ends
        total = max((end for _, _, end in products), default=0)
        latest = [total] * len(self.ops)
        for index in reversed(range(len(self.ops))):
            op, cycles = self.ops[index], self._cycles[index]
            ends = [latest[each] - self._slack(index, each) for each in self._readers[index]]
            if isinstance(op, Products):
                ends.append(over[index])
            latest[index] = min(total, *ends) - cycles if ends else total
            if isinstance(op, Transform) and ends:
                complete = (over[n] for n in self.needs[index] if isinstance(self.ops[n], Products))
                latest[index] = reads.before(op, latest[index], cycles, max(complete, default=0))
        return latest

    def _bank_leaves(self, dim: int) -> dict[int, int]:
        """When the array leaves the bank of sums that a product adds to in each cycle.

        By the clock of the array; nobody else reads the bank until then.
        """
        leaves: dict[int, int] = {}
        bank, clock = -1, 0
        for index in reversed(range(len(self.ops))):
            op = self.ops[index]
            if isinstance(op, Products):
                if op.c // self._bank_rows != bank:
                    bank, clock = op.c // self._bank_rows, self._ends[index]
                if op.rows >= dim:
                    leaves[index] = clock
        return leaves

    def _slack(self, index: int, reader: int) -> int:
        """Cycles from the end of an operation until `reader` begins, if that is not to wait."""
        op, products = self.ops[index], self.ops[reader]
        latency = self._latency(index, reader)
        if not isinstance(op, Transform) or not isinstance(products, Products):
            return latency
        # Attention's products come close behind its transforms: earlier ones would pass each other.
        of_heads = op.function is Function.CONTEXT or FUNCTIONS[op.function].scores
        turns = _SPARE_BESIDE_WEIGHTS if products.rows <= self._dim else _SPARE
        spare = 0 if of_heads else max(self._least_spare, turns * self._cycles[index])
        return latency + spare

    def order(self) -> list[int]:
        """The indices of all operations in the order of the schedule."""
        for index, missing in enumerate(self._missing):
            if not missing:
                self._offer(index)
        for index, unit in enumerate(self._units):
            if unit is Unit.EXECUTE:
                self._before(index)
                self._put(index, max(self._free[Unit.EXECUTE], self._ready[index]))
        for index in range(len(self.ops)):
            self._supply(index)
            if self.begin[index] < 0:
                self._put(index, self._soonest(index))
        return self._order

    def _before(self, product: int) -> None:
        """All that comes between a product and the one before it: loads first, then the rest."""
        mark = len(self._order)
        self._supply(product)
        mark = max(mark, len(self._order))
        start = max(self._free[Unit.EXECUTE], self._ready[product])
        self._stall = start - self._clock[product]
        self._now = max(self._now, self._free[Unit.EXECUTE] - _AHEAD)
        self._fill(start + self._cycles[product], self._clock[product])
        self._order[mark:] = self._tidied(self._order[mark:])

    def _tidied(self, group: list[int]) -> Iterator[int]:
        """`group` with those loads first, in order of need, that nothing in it has to precede.

        What is alike but for its times is the same then, and becomes a loop.
        """
        inside = set(group)
        early = {
            index
            for index in group
            if self._units[index] is Unit.LOAD and inside.isdisjoint(self.needs[index])
        }
        yield from sorted(early, key=lambda index: (self._readers[index][:1], index))
        yield from (index for index in group if index not in early)

    def _supply(self, product: int) -> None:
        """All that a product needs, among whatever may begin earlier."""
        clock = self._clock[product]
        while any(self.begin[each] < 0 for each in self.needs[product]):
            found = [self._choice(unit, NEVER, clock) for unit in self._rooms]
            soonest = min((each for each in found if each), default=None)
            leaving = [queue[0] for queue in self._queued.values() if queue]
            if soonest:
                self._put(soonest[2], soonest[0])
                self._now = max(self._now, soonest[0] - _DEMANDED)
            elif leaving:
                self._now = max(self._now + 1, min(leaving))
            else:
                index = self._first_missing(product)
                self._put(index, self._soonest(index))

    def _first_missing(self, index: int) -> int:
        """What an operation needs that nothing else has to precede."""
        while missing := [each for each in self.needs[index] if self.begin[each] < 0]:
            index = missing[0]
        return index

    def _fill(self, end: int, clock: int) -> None:
        """Put whatever may begin before `end` into the schedule."""
        begun = -1
        while begun < len(self._order):
            begun = len(self._order)
            for unit in (Unit.LOAD, Unit.TRANSFORM, Unit.STORE, Unit.LOAD):
                while choice := self._choice(unit, end, clock):
                    self._put(choice[2], choice[0])
                    if unit is Unit.TRANSFORM:
                        self._stores_of(choice[2])

    def _stores_of(self, transform: int) -> None:
        """Stores of what a transform leaves: of a long one, as many as their queue has room for.

        Products would wait behind any more until the transform is over.
        """
        for index in self._readers[transform]:
            ready = self.begin[index] < 0 and not self._missing[index]
            if not ready or self._units[index] is not Unit.STORE:
                continue
            if self._cycles[transform] <= _SHORT or not self._is_full(Unit.STORE):
                self._put(index, self._soonest(index))

    def _choice(self, unit: Unit, end: int, clock: int) -> tuple[int, int, int] | None:
        """What a unit takes next before `end`, if anything: begin, when it is needed, and index."""
        if self._is_full(unit) or (unit is Unit.TRANSFORM and self._is_full(Unit.STORE)):
            return None
        soonest, late = max(self._free[unit], self._now), self._stall - MARGINS[unit]
        ready, relaxed = self._ready, self._relaxed
        chosen: tuple[int, int, int] | None = None
        for latest, index in self._near(unit, clock):
            begin = max(soonest, ready[index], min(relaxed[index], latest + late))
            # Those needed soonest come first: what begins no earlier is no better.
            if begin < end:
                chosen, end = (begin, latest, index), begin
        return chosen

    def _is_full(self, unit: Unit) -> bool:
        queue = self._queued[unit]
        while queue and queue[0] <= self._now:
            queue.popleft()
        return len(queue) >= self._rooms[unit]

    def _near(self, unit: Unit, clock: int) -> Sequence[tuple[int, int]]:
        """The candidates that are needed soonest, without loads of what is far ahead."""
        if unit is not Unit.LOAD:
            return self._candidates[unit][:_WINDOW]
        near, far, clocks, last = list[tuple[int, int]](), 0, self._clock, clock + MAX_LEAD
        for each in self._candidates[unit]:
            if clocks[each[1]] > last:
                far += 1
                if far > _FAR:
                    break
            else:
                near.append(each)
                if len(near) == _WINDOW:
                    break
        return near

    def _soonest(self, index: int) -> int:
        """When an operation could begin."""
        return max(self._free[self._units[index]], self._ready[index], self._now)

    def _latency(self, index: int, reader: int) -> int:
        return self._expected.latency(self.ops[index], self.ops[reader])

    def _offer(self, index: int) -> None:
        """All that an operation depends on is in the schedule now."""
        ends = (self.end[need] + self._latency(need, index) for need in self.needs[index])
        self._ready[index] = self._relaxed[index] = max(ends, default=0)
        if (unit := self._units[index]) is not Unit.EXECUTE:
            if self.needs[index]:
                self._relaxed[index] += MARGINS[unit]
            if unit is Unit.STORE:
                left = (self._leaves.get(need, 0) for need in self.needs[index])
                self._relaxed[index] = max(self._relaxed[index], max(left, default=0) + self._stall)
            insort(self._candidates[unit], (self._latest[index], index))

    def _put(self, index: int, begin: int) -> None:
        """The next operation of the schedule, and when it begins."""
        unit = self._units[index]
        self._order.append(index)
        self.begin[index] = begin
        self.end[index] = self._free[unit] = self._over(index, begin)
        if unit is not Unit.EXECUTE:
            self._candidates[unit].remove((self._latest[index], index))
            self._queued[unit].append(begin)
        for reader in self._readers[index]:
            self._missing[reader] -= 1
            if not self._missing[reader]:
                self._offer(reader)

    def _over(self, index: int, begin: int) -> int:
        """When an operation is over: a load behind the weights that are read from its bank."""
        op, cycles = self.ops[index], self._cycles[index]
        if not isinstance(op, Load) or op.to.space is not Space.SCRATCHPAD:
            return begin + cycles
        late = self._expected.arrival - self._stall
        return self._weights.over(op.to.row, begin + late, cycles, self._clock[index]) - late
