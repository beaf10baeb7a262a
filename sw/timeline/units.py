"""The units of an accelerator and their clocks, in cycles.  Each takes operations in order."""

from collections import deque
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.latencies import (
    ADDRESS_LATENCY,
    DRAIN_WORDS,
    FACTS_CYCLES,
    FACTS_LATENCY,
    LOCAL_READ_LATENCY,
    ROW_LATENCY,
    SQUARED_FACTS_CYCLES,
    SQUARED_FACTS_LATENCY,
    STEP_LATENCY,
    STORE_LATENCY,
    lane_latency,
)
from celosia.sw.timeline.banks import Banks
from celosia.sw.timeline.bus import Bus, Credit, Transfer

__all__ = ["WRITTEN_CYCLES", "LoadUnit", "StoreUnit", "TransformUnit", "TransformWork"]

ADDRESS_CYCLES: Final = ADDRESS_LATENCY + 1
"""Cycles from a load that leaves its queue until its address is accepted."""
LOADED_CYCLES: Final = ROW_LATENCY + 3
"""Cycles from the last beat on offer until the rows may be read."""
WRITTEN_CYCLES: Final = LOADED_CYCLES - 1
"""Cycles from a beat on offer until its local rows are written."""
RESPONSE_CYCLES: Final = 3
"""Cycles from the last beat to the end of a store, beside the memory's latency."""
LOAD_BUFFER: Final = 4
"""Cycles that rows may wait for their bank before beats wait, too."""
STORE_BUFFER: Final = 32
"""Rows that a store is ahead, mostly."""
PLACED_CYCLES: Final = LOCAL_READ_LATENCY + 2
"""Cycles from a step of a transform that is accepted to its result in the scratchpad, beside those
in the lanes."""
COUNTED_CYCLES: Final = 32
"""Cycles from the last step of a row to its sums."""


_Delay = Callable[..., float]
"""`Banks.delay` or `Banks.claim`."""


class LoadUnit:
    """Addresses go out ahead of the data; data come in order."""

    def __init__(self, config: AcceleratorConfig, bus: Bus):
        self._bus = bus
        self._requests = config.read_requests
        self._over = deque([0.0] * self._requests, self._requests)
        """When each of the last bursts was over: only then another one may be on its way."""
        self._taken = 0.0
        """When the next load may leave its queue."""
        self._data = 0.0
        """When the data so far have arrived."""
        self._written = 0.0
        """When they would have been, had their rows not waited for banks."""

    def take(self, begin: float, move: Transfer, segments: int, rows: int) -> tuple[float, float]:
        """A load could leave its queue at `begin`: when its local rows could be written."""
        begin, latency = max(begin, self._taken), self._bus.latency
        first, burst = begin + ADDRESS_CYCLES, move.cycles / move.bursts
        start = max(self._data, first + latency)
        last, self._data = self._bursts(first, move, burst)
        self._taken = max(begin + segments, last + 1 - ADDRESS_CYCLES)
        return max(start, self._written), max(self._data, self._written + rows)

    def place(self, end: float, move: Transfer) -> float:
        """Its rows are written until `end`, since others were at their bank.

        Beats wait with them, but for those that a buffer holds, and with the beats bursts that are
        on their way.  Returns when its rows may be read.
        """
        self._written = end
        waits = end - LOAD_BUFFER - self._data
        if waits > 0:
            count = min(round(move.bursts), self._requests)
            waiting = [self._over.pop() + waits for _ in range(count)]
            self._over.extend(reversed(waiting))
            self._data += waits
        ahead = self._requests * move.cycles / move.bursts + self._bus.latency
        self._taken = max(self._taken, self._data - ahead)
        return end + LOADED_CYCLES

    def _bursts(self, first: float, move: Transfer, burst: float) -> tuple[float, float]:
        """When the last address is sent, and all data are there, from the `first` address on.

        As many bursts as may be on their way hide the latency, or are followed one by one.
        """
        count, latency, over = round(move.bursts), self._bus.latency, self._over
        again = self._bus.read_again
        if self._bus.read_flight <= self._requests * burst and over[0] + again <= first:
            end = max(self._data, first + latency) + move.cycles
            over.extend(end - burst * left for left in reversed(range(min(count, len(over)))))
            return first, end
        address, data = first, self._data
        for _ in range(count):
            address = max(address, over[0] + again)
            data = max(data, address + latency) + burst
            over.append(data)
            address += self._bus.read_address
        return address - self._bus.read_address, data


class StoreUnit:
    """Rows are read ahead of the channel as far as a buffer holds them."""

    def __init__(self, config: AcceleratorConfig, bus: Bus):
        self._bus = bus
        self._credit = Credit(config.write_requests, bus.write_flight)
        self._taken = 0.0
        self._data = 0.0

    def over(self, begin: float, move: Transfer, words: int, row: int, banks: Banks) -> float:
        """When a store, from `row` on, that could leave its queue at `begin` has read its words."""
        return self._reads(begin, move, words, row, banks.delay)[0]

    def take(
        self, begin: float, move: Transfer, words: int, row: int, banks: Banks
    ) -> tuple[float, float]:
        """A store of so many words, from `row` on, could leave its queue at `begin`.

        Returns when they are read, and when it is over.
        """
        data = max(self._data, max(begin, self._taken) + STORE_LATENCY)
        read, late = self._reads(begin, move, words, row, banks.claim)
        sent = self._credit.last(data, move.bursts)
        cycles = max(move.cycles, words)
        self._data = max(data + cycles + late, read + STORE_LATENCY, sent)
        ahead = DRAIN_WORDS * cycles / words
        self._taken = max(read, self._data - STORE_LATENCY - ahead)
        return self._taken + 1, self._data + self._bus.latency + RESPONSE_CYCLES

    def _reads(
        self, begin: float, move: Transfer, words: int, row: int, delay: _Delay
    ) -> tuple[float, float]:
        """When a store has read its words, and by how much the channel waits for them.

        It reads a row in each cycle until its buffer is full, then as many as the channel takes.
        """
        begin, pace = max(begin, self._taken), max(1.0, move.cycles / words)
        waiting = max(0.0, self._data - STORE_LATENCY - begin) / pace
        room = max(0.0, DRAIN_WORDS - waiting)
        fast = float(words) if pace == 1 else min(words, room / (1 - 1 / pace))
        over = begin + fast
        over += delay(row, begin, over, fast) if fast else 0.0
        if fast == words:
            return over, 0.0
        end = over + (words - fast) * pace
        late = delay(row, over, end, words - fast, STORE_BUFFER)
        return end + late, late


@dataclass(frozen=True, kw_only=True)
class TransformWork:
    """What matters of a transform, its rows in local memories apart."""

    steps: int
    cycles: int
    """Cycles in which all steps enter the lanes, part by part: a row takes at least as many as one
    of its results has local rows, and as the scaler has turns for it."""
    scalings: int = 0
    """Turns of the lanes' scaler that an element takes."""
    last_part: int = 0
    """How many of these are behind the one in which the last step is accepted."""
    accesses: tuple[int, ...]
    """Accesses to the scratchpad that each of the results takes."""
    rows: int
    slots: range
    """The slots of statistics that it uses; an empty range: it uses none."""
    facts: bool = False
    """Whether it needs what is derived from complete sums."""
    finishes: bool = False
    """Whether it completes its rows' sums."""
    squares: bool = False

    @property
    def latency(self) -> int:
        """Cycles from a step to its result in the scratchpad, if nobody is at its bank."""
        return PLACED_CYCLES + lane_latency(self.scalings)


class Background:
    """What is derived from sums, row by row."""

    def __init__(self) -> None:
        self._free = 0.0
        self._derived: tuple[tuple[range, float], ...] = ()

    def derive(self, work: TransformWork, begin: float, end: float) -> None:
        """The sums of `work`, whose steps are from `begin` to `end`, are complete."""
        row = SQUARED_FACTS_CYCLES if work.squares else FACTS_CYCLES
        latency = SQUARED_FACTS_LATENCY if work.squares else FACTS_LATENCY
        steps = (end - begin) / work.rows
        first = max(self._free, begin + steps + COUNTED_CYCLES)
        over = max(first + row * work.rows, end + COUNTED_CYCLES + row)
        self._free = over
        self._derived = ((work.slots, over + latency - row), *self._derived[:3])

    def ready(self, slots: range) -> float:
        """When what is derived for `slots` is there."""
        return max(
            (
                time
                for known, time in self._derived
                if slots.start < known.stop and known.start < slots.stop
            ),
            default=0.0,
        )


class TransformUnit:
    """A part of a step per cycle, or a word of a result; transforms follow without a pause."""

    def __init__(self) -> None:
        self._background = Background()
        self._taken = 0.0
        self.placed = [0.0, 0.0]
        """When the first and the second results so far are in their banks."""

    def copy(self) -> "TransformUnit":
        """One that goes on from here as this one does."""
        other = copy(self)
        other._background, other.placed = copy(self._background), list(self.placed)
        return other

    def begin(self, begin: float, work: TransformWork) -> tuple[float, float]:
        """When the steps of a transform that could begin then do so, and end if none waits."""
        begin = max(begin + STEP_LATENCY, self._taken)
        if work.facts or work.finishes:
            begin = max(begin, self._background.ready(work.slots))
        return begin, begin + 1 + work.cycles

    def finish(self, work: TransformWork, begin: float, end: float) -> float:
        """Its steps are from `begin` to `end`: when it has read its rows."""
        if work.finishes:
            self._background.derive(work, begin, end)
        self._taken = end
        return end + 1 - work.last_part
