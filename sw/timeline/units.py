"""The units of an accelerator and their clocks, in cycles.  Each takes operations in order."""

from collections import deque
from collections.abc import Callable, Iterable
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
    POLYNOMIAL_LATENCY,
    ROW_LATENCY,
    SCALER_LATENCY,
    SQUARED_FACTS_CYCLES,
    SQUARED_FACTS_LATENCY,
    STEP_LATENCY,
    STORE_LATENCY,
    lane_latency,
)
from celosia.sw.timeline.banks import Banks
from celosia.sw.timeline.bus import Bursts, Bus, Transfer

__all__ = ["WRITTEN_CYCLES", "LoadUnit", "StoreUnit", "TransformUnit", "TransformWork"]

ADDRESS_CYCLES: Final = ADDRESS_LATENCY + 1
"""Cycles from a load that leaves its queue until its address is accepted."""
LOADED_CYCLES: Final = ROW_LATENCY - 1
"""Cycles from the last beat on offer until the rows may be read."""
WRITTEN_CYCLES: Final = ROW_LATENCY - 1
"""Cycles from a beat on offer until its local rows are written."""
LOAD_BUFFER: Final = 4
"""Cycles that rows may wait for their bank before beats wait, too."""
STORE_BUFFER: Final = 32
"""Rows that a store is ahead, mostly."""
PLACED_CYCLES: Final = LOCAL_READ_LATENCY + 3
"""Cycles from a step of a transform that is accepted to its result in the scratchpad, beside those
in the lanes."""
TURN_CYCLES: Final = SCALER_LATENCY + POLYNOMIAL_LATENCY
"""Cycles from the first turn of the scaler that a part takes to its second one."""
COUNTED_CYCLES: Final = 5
"""Cycles from the last step of a row to its sums, beside those in the lanes."""
AHEAD_CYCLES: Final = 4
"""Cycles by which facts of rows with squares are earlier, since a row begins before the one before
it ends."""


_Delay = Callable[..., float]
"""`Banks.delay` or `Banks.claim`."""


class LoadUnit:
    """Addresses go out ahead of the data; data come in order."""

    def __init__(self, config: AcceleratorConfig, bus: Bus):
        self._bus, self._requests = bus, config.read_requests
        self._bursts = Bursts(self._requests, bus.read_again, bus.read_flight, bus.read_address)
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
        last, self._data = self._bursts.take(first, self._data, move, burst, latency=latency)
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
            self._bursts.wait(move, waits)
            self._data += waits
        ahead = self._requests * move.cycles / move.bursts + self._bus.latency
        self._taken = max(self._taken, self._data - ahead)
        return end + LOADED_CYCLES


class StoreUnit:
    """Rows are read ahead of the channel as far as a buffer holds them."""

    def __init__(self, config: AcceleratorConfig, bus: Bus):
        self._bus = bus
        self._bursts = Bursts(
            config.write_requests, bus.write_again, bus.write_flight, bus.write_address
        )
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
        cycles = max(move.cycles, words)
        _, sent = self._bursts.take(data, data, move, cycles / move.bursts)
        self._data = max(sent + late, read + STORE_LATENCY)
        ahead = DRAIN_WORDS * cycles / words
        self._taken = max(read, self._data - STORE_LATENCY - ahead)
        return self._taken + 1, self._data + self._bus.latency

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
    of its results has local rows."""
    scalings: int = 0
    """Turns of the lanes' scaler that an element takes."""
    turning: int = 0
    """Parts of which each takes two of these turns."""
    last_part: int = 0
    """How many of these are behind the one in which the last step is accepted."""
    passes: int = 1
    """How many times the rows of each operand are read."""
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
    def pace(self) -> int:
        """Cycles from one of many such transforms to the next."""
        return max(self.cycles, 2 * self.turning)

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
        ahead = AHEAD_CYCLES if work.squares and work.rows > 1 else 0
        steps, counted = (end - begin) / work.rows, COUNTED_CYCLES + lane_latency(work.scalings)
        first = max(self._free, begin + steps + counted)
        over = max(first + row * work.rows - ahead, end + counted + row)
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


class Turns:
    """Parts of which each takes two turns of the scaler: in their second one, no other enters."""

    def __init__(self, parts: Iterable[tuple[float, float]] = ()):
        self._parts = deque(parts)
        """From when and until when the last ones entered, in order."""

    def copy(self) -> "Turns":
        """The same parts."""
        return Turns(self._parts)

    def enter(self, begin: float, parts: float) -> float:
        """So many could enter from `begin` on: when they have."""
        while self._parts and self._parts[0][1] + TURN_CYCLES <= begin:
            self._parts.popleft()
        left, number = parts, 0
        while left:
            alone = number == len(self._parts)
            first, last = (begin, begin) if alone else self._parts[number]
            if (room := first + TURN_CYCLES - begin) > 0:
                count = min(left, room)
                self._parts.append((begin, begin + count))
                left, begin = left - count, begin + count
            if left and not alone:
                begin, number = max(begin, last + TURN_CYCLES), number + 1
        return begin


class TransformUnit:
    """A part of a step per cycle, or a word of a result; transforms follow without a pause."""

    def __init__(self) -> None:
        self._background, self._turns = Background(), Turns()
        self.taken = 0.0
        """When all steps so far have been taken."""
        self.placed = [0.0, 0.0]
        """When the first and the second results so far are in their banks."""

    def copy(self) -> "TransformUnit":
        """One that goes on from here as this one does."""
        other = copy(self)
        other._background, other._turns = copy(self._background), self._turns.copy()
        other.placed = list(self.placed)
        return other

    def begin(self, begin: float, work: TransformWork) -> tuple[float, float]:
        """When the steps of a transform that could begin then do so, and end if none waits."""
        begin = max(begin + STEP_LATENCY, self.taken)
        if work.facts or work.finishes:
            begin = max(begin, self._background.ready(work.slots))
        end = begin + work.cycles
        if work.turning:
            end = max(end, self._turns.enter(begin, work.turning))
        return begin, end

    def finish(self, work: TransformWork, begin: float, end: float) -> float:
        """Its steps are from `begin` to `end`: when it has read its rows."""
        if work.finishes:
            self._background.derive(work, begin, end)
        self.taken = end
        return end + 1 - work.last_part
