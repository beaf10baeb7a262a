"""The queues of an accelerator, followed through a program."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from celosia.isa.config import ACC_BYTES, AcceleratorConfig
from celosia.isa.encoding import WeightType
from celosia.isa.latencies import TOKEN_LATENCY
from celosia.isa.memory import MemoryTiming
from celosia.sw.timeline.array import RESULT_CYCLES, ArrayUnit
from celosia.sw.timeline.banks import Banks
from celosia.sw.timeline.bus import Bus
from celosia.sw.timeline.followed import FollowedTransforms
from celosia.sw.timeline.local import LocalTimes, Rows, settle, stamp
from celosia.sw.timeline.queued import QueuedLoad, QueuedStore, QueuedTransform
from celosia.sw.timeline.units import (
    LOAD_BUFFER,
    WRITTEN_CYCLES,
    LoadUnit,
    StoreUnit,
    TransformWork,
)

__all__ = ["Moved", "Timeline"]

DECODE_CYCLES: Final = 2
"""Cycles from the first command to the first operation before the queues."""
QUEUE_CYCLES: Final = 4
"""Cycles from an operation before the queues to the head of its queue, if that is empty."""
MIN_ISSUE: Final = 2
"""Cycles from one operation to the next, at least."""
TOKEN_CYCLES: Final = TOKEN_LATENCY - 1
"""Cycles from a store that is over to the load that waits for it."""
TRANSFORMS: Final = 1 << 40
"""What is added to the number of a transform, which stands for a time, so that it is no load's."""


@dataclass(frozen=True, slots=True)
class Moved:
    """Rows of a tensor in memory."""

    rows: int
    bytes: int
    """Bytes of a row."""
    pitch: int
    address: int


class Timeline:
    """Operations in program order become times, in cycles since the first command.

    Loads, stores and transforms are followed late, when somebody needs what they leave behind: then
    it is known who of those that come first at a bank was there meanwhile.
    """

    def __init__(self, config: AcceleratorConfig, timing: MemoryTiming | None = None):
        self.config = config
        self.bus = Bus(config, timing or MemoryTiming())
        self.scratchpad = LocalTimes.of(config.scratchpad_rows)
        self.accumulator = LocalTimes.of(config.accumulator_rows)
        self.parameters = LocalTimes.of(config.parameter_rows)
        self._bank_claims = Banks(config.scratchpad_bank_rows, config.scratchpad_banks)
        self._sum_claims = Banks(config.accumulator_bank_rows, config.accumulator_banks)
        self._loads = LoadUnit(config, self.bus)
        self._stores = StoreUnit(config, self.bus)
        self._transforms = FollowedTransforms(self._bank_claims, self._sum_claims)
        self._queued_loads: deque[QueuedLoad] = deque()
        self._queued_stores: deque[QueuedStore] = deque()
        self._queued_transforms: deque[QueuedTransform] = deque()
        self._last_stored = 0
        """The last transform whose results a store that was followed has read."""
        self._issued = float(DECODE_CYCLES)
        self._load_ends: list[float] = []
        self._store_reads: list[float] = []
        self._store_ends: list[float] = []
        self._transform_ends: list[float] = []
        self._product_ends: list[float] = []
        self._array = ArrayUnit(config, self._bank_claims, self._sum_claims)

    @property
    def array(self) -> float:
        """When the rows so far have entered the array."""
        return self._array.over

    @property
    def cycles(self) -> int:
        """Cycles from the first command to the end of everything."""
        self._finish_loads(len(self._load_ends) + len(self._queued_loads))
        self._finish_stores(len(self._store_ends) + len(self._queued_stores))
        self._finish_transforms(len(self._transform_ends) + len(self._queued_transforms))
        ends = [self._issued]
        for each in (self._load_ends, self._store_ends, self._transform_ends, self._product_ends):
            ends += each[-1:]
        return round(max(ends))

    def configure(self, commands: int) -> None:
        """Commands that are no operations."""
        self._issued += commands

    def load(
        self, space: LocalTimes, rows: Rows, moved: Moved, *, commands: int = 1, after: int = 0
    ) -> None:
        """Rows come from memory, `after` so many stores, from the program's first, are over."""
        number, depth = self._number(self._load_ends, self._queued_loads), self.config.load_queue
        self._finish_loads(number - depth)
        head = self._issue(commands, self._load_ends, depth - len(self._queued_loads))
        row = self.config.dim * (1 if space is self.scratchpad else ACC_BYTES)
        move = self.bus.read(moved.rows, moved.bytes, moved.pitch, moved.address, row)
        self._queued_loads.append(QueuedLoad(head, space, rows, move, moved.rows, after))
        stamp(space.written, rows, -number)

    def store(
        self,
        space: LocalTimes,
        rows: Rows,
        moved: Moved,
        words: int,
        *,
        parameters: Rows | None = None,
        commands: int = 1,
    ) -> None:
        """Rows go to memory in so many words."""
        number, depth = self._number(self._store_ends, self._queued_stores), self.config.store_queue
        self._finish_stores(number - depth)
        head = self._issue(commands, self._store_reads, depth - len(self._queued_stores))
        written, transform = self._settled(space, rows)
        head = max(head, written)
        if parameters is not None:
            head = max(head, self._when_written(self.parameters, parameters))
        move = self.bus.write(moved.rows, moved.bytes, moved.pitch, moved.address)
        self._queued_stores.append(
            QueuedStore(head, space, rows, move, words, parameters, transform)
        )
        stamp(space.read, rows, -number)

    def product(
        self,
        a: int,
        w: int,
        c: int,
        rows: int,
        *,
        transposed: bool,
        accumulate: bool,
        weights: WeightType = WeightType.INT8,
        commands: int = 2,
    ) -> float:
        """Rows of A through a tile of weights; returns when the first one enters the array."""
        head = self._issue(commands, self._product_ends, self.config.execute_queue)
        written, read = self.scratchpad.written, self.scratchpad.read
        while written[a] < 0 or written[w] < 0:
            self._follow_writer(min(written[a], written[w]))
        if self.accumulator.read[c] < 0:
            self._follow_reader(self.accumulator.read[c])
        begin = max(head, written[a], written[w], self.accumulator.read[c])
        begin = self._array.take(
            begin, (a, w, c), rows, transposed=transposed, adds=accumulate, weights=weights
        )
        self._follow_again()
        over = begin + rows
        read[a] = read[w] = over
        end = over + 2 * self.config.dim + RESULT_CYCLES
        self.accumulator.written[c] = end
        self._product_ends.append(end)
        return begin

    def transform(
        self,
        work: TransformWork,
        source: tuple[LocalTimes, Rows],
        targets: Sequence[Rows],
        *,
        residual: Rows | None = None,
        parameters: Sequence[Rows] = (),
        commands: int = 1,
    ) -> None:
        """A function of rows; each of `work.accesses` is of the scratchpad."""
        ends, depth = self._transform_ends, self.config.transform_queue
        number = self._number(ends, self._queued_transforms)
        self._finish_transforms(number - depth)
        head = self._issue(commands, ends, depth - len(self._queued_transforms))
        memory, rows = source
        begin = max(head, self._when_written(memory, rows))
        begin = max([begin, *(self._when_read(self.scratchpad, each) for each in targets)])
        begin = max([begin, *(self._when_written(self.parameters, each) for each in parameters)])
        if residual is not None:
            begin = max(begin, self._when_written(self.scratchpad, residual))
        read_rows = [] if residual is None else [residual]
        if memory is self.scratchpad:
            read_rows.append(rows)
        sums = [rows] if memory is self.accumulator else []
        self._queued_transforms.append(
            QueuedTransform(
                begin, work, memory, rows, targets, residual, parameters, read_rows, sums
            )
        )
        pending = -TRANSFORMS - number
        stamp(memory.read, rows, pending)
        if residual is not None:
            stamp(self.scratchpad.read, residual, pending)
        for each in parameters:
            stamp(self.parameters.read, each, pending)
        for each in targets:
            stamp(self.scratchpad.written, each, pending)

    def _issue(self, commands: int, ends: Sequence[float], depth: int) -> float:
        """An operation is queued: when it is at the queue's head, if nobody is before it.

        Of those so far, it comes at most `depth` after the last one in `ends`.
        """
        issued = self._issued + max(commands, MIN_ISSUE)
        if len(ends) >= depth:
            issued = max(issued, ends[-depth] + 1)
        self._issued = issued
        return issued + QUEUE_CYCLES

    @staticmethod
    def _number(ends: Sequence[float], queued: Sequence[object]) -> int:
        """The number of the next operation of a queue, counted from 1."""
        return len(ends) + len(queued) + 1

    def _finish_loads(self, number: int) -> None:
        """Follow all loads up to this one."""
        while len(self._load_ends) < number:
            load = self._queued_loads.popleft()
            begin = max(load.head, self._when_read(load.space, load.rows))
            if load.after:
                self._finish_stores(load.after)
                begin = max(begin, self._store_ends[load.after - 1] + TOKEN_CYCLES)
            rows = load.rows[1] - load.rows[0]
            start, over = self._loads.take(begin, load.move, load.segments, rows)
            if load.space is self.scratchpad:
                over += self._wait_for_bank(load.rows, start, over)
            end = self._loads.place(over, load.move)
            self._load_ends.append(end)
            settle(load.space.written, load.rows, -len(self._load_ends), end)

    def _wait_for_bank(self, rows: Rows, start: float, over: float) -> float:
        """The delay of a load's rows, whose data come from `start` to `over`.

        All others come first at a bank: they are followed, as far as they could be there meanwhile.
        """
        banks, count = self._bank_claims, rows[1] - rows[0]
        start, over = start + WRITTEN_CYCLES, over + WRITTEN_CYCLES
        wanted = rows[0], start, over, count, LOAD_BUFFER
        served = banks.served(*wanted)
        while self._finish_meeting(rows[0], served[-1][1], stores=True):
            served = banks.served(*wanted)
        banks.claim_served(rows[0], served)
        return served[-1][1] - over

    def _finish_stores(self, number: int) -> None:
        """Follow all stores up to this one."""
        while len(self._store_ends) < number:
            store = self._queued_stores.popleft()
            on_chip = store.space is self.scratchpad
            banks = self._bank_claims if on_chip else self._sum_claims
            head, row, words = store.head, store.rows[0], store.words
            if store.transform:
                self._finish_transforms(store.transform)
                self._last_stored = store.transform
                head = max(head, self._transform_ends[store.transform - 1])
            stored = head, store.move, words, row, banks
            while on_chip and self._finish_meeting(row, self._stores.over(*stored)):
                pass
            read, end = self._stores.take(*stored)
            self._store_reads.append(read)
            self._store_ends.append(end)
            settle(store.space.read, store.rows, -len(self._store_ends), read)
            if store.parameters is not None:
                stamp(self.parameters.read, store.parameters, read)

    def _finish_transforms(self, number: int) -> None:
        """Follow all transforms up to this one."""
        while len(self._transform_ends) < number:
            queued = self._queued_transforms.popleft()
            self._transform_ends.append(0.0)
            read, end = self._transforms.follow(queued, len(self._transform_ends))
            self._transform_ends[-1] = end
            pending = -TRANSFORMS - len(self._transform_ends)
            self._settle(queued, (pending, pending), (read, end))

    def _follow_again(self) -> None:
        """Take those transforms back that meet a product which was not known when they came."""
        first = self._transforms.disturbed(self._last_stored)
        if not first:
            return
        for number in range(len(self._transform_ends), first - 1, -1):
            queued, times = self._transforms.take_back()
            self._transform_ends.pop()
            self._queued_transforms.appendleft(queued)
            pending = -TRANSFORMS - number
            self._settle(queued, times, (pending, pending))

    def _settle(
        self, queued: QueuedTransform, old: tuple[float, float], new: tuple[float, float]
    ) -> None:
        """Let rows of a transform that have its old times, read and written, have new ones."""
        settle(queued.space.read, queued.rows, old[0], new[0])
        if queued.residual is not None:
            settle(self.scratchpad.read, queued.residual, old[0], new[0])
        for each in queued.parameters:
            settle(self.parameters.read, each, old[1], new[1])
        for each in queued.targets:
            settle(self.scratchpad.written, each, old[1], new[1])

    def _settled(self, space: LocalTimes, rows: Rows) -> tuple[float, int]:
        """When all but transforms have written `rows`, and the last transform that writes some."""
        times = space.written[rows[0] : rows[1]]
        if (first := min(times)) >= 0:
            return max(times), 0
        loads = [time for time in times if -TRANSFORMS < time < 0]
        if loads:
            self._finish_loads(round(-min(loads)))
            times = space.written[rows[0] : rows[1]]
        return max(0.0, *times), max(0, round(-first) - TRANSFORMS)

    def _finish_meeting(self, row: int, until: float, *, stores: bool = False) -> bool:
        """Follow who comes first at the scratchpad's bank of `row` and could begin before `until`.

        Those are transforms, and `stores` only for loads.  Returns whether there were any.
        """
        size, done = self.config.scratchpad_bank_rows, len(self._transform_ends)
        bank, followed = row // size, done + len(self._store_ends)
        meeting = [
            number
            for number, queued in enumerate(self._queued_transforms, start=done + 1)
            if queued.meets(bank, size, until)
        ]
        self._finish_transforms(max(meeting, default=0))
        if stores:
            self._finish_stores(self._last_store(bank, until))
        return len(self._transform_ends) + len(self._store_ends) > followed

    def _last_store(self, bank: int, until: float) -> int:
        """The last store that could read this bank of the scratchpad before `until`; 0: none."""
        ends, done = self._transform_ends, len(self._store_ends)
        last = 0
        for number, store in enumerate(self._queued_stores, start=done + 1):
            if store.transform > len(ends):
                break
            head = max(store.head, ends[store.transform - 1] if store.transform else 0.0)
            if head >= until:
                break
            on_chip = store.space is self.scratchpad
            if on_chip and store.rows[0] // self.config.scratchpad_bank_rows == bank:
                last = number
        return last

    def _when_written(self, space: LocalTimes, rows: Rows) -> float:
        while (first := min(space.written[rows[0] : rows[1]])) < 0:
            self._follow_writer(first)
        return max(space.written[rows[0] : rows[1]])

    def _when_read(self, space: LocalTimes, rows: Rows) -> float:
        while (first := min(space.read[rows[0] : rows[1]])) < 0:
            self._follow_reader(first)
        return max(space.read[rows[0] : rows[1]])

    def _follow_writer(self, pending: float) -> None:
        """Follow the load or transform, and all before it, whose number stands for a time."""
        if pending < -TRANSFORMS:
            self._finish_transforms(round(-pending) - TRANSFORMS)
        else:
            self._finish_loads(round(-pending))

    def _follow_reader(self, pending: float) -> None:
        """Follow the store or transform, and all before it, whose number stands for a time."""
        if pending < -TRANSFORMS:
            self._finish_transforms(round(-pending) - TRANSFORMS)
        else:
            self._finish_stores(round(-pending))
