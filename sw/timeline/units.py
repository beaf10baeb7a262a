"""The units of an accelerator and their clocks, in cycles.  Each takes operations in order."""

from collections import deque
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
    STORE_LATENCY,
    lane_latency,
)
from celosia.sw.timeline.banks import Banks
from celosia.sw.timeline.bus import Bus, Credit, Transfer
from celosia.sw.timeline.local import Rows

__all__ = ["LoadUnit", "StoreUnit", "TransformUnit", "TransformWork"]

ADDRESS_CYCLES: Final = ADDRESS_LATENCY + 1
"""Cycles from a load that leaves its queue until its address is accepted."""
LOADED_CYCLES: Final = ROW_LATENCY + 3
"""Cycles from the last beat on offer until the rows may be read."""
RESPONSE_CYCLES: Final = 3
"""Cycles from the last beat to the end of a store, beside the memory's latency."""
LOAD_BUFFER: Final = 4
"""Rows that a load holds on their way."""
STORE_BUFFER: Final = 32
"""Rows that a store is ahead, mostly."""
PLACED_CYCLES: Final = LOCAL_READ_LATENCY + 2
"""Cycles from a step of a transform that is accepted to its result in the scratchpad, beside those
in the lanes."""
COUNTED_CYCLES: Final = 32
"""Cycles from the last step of a row to its sums."""


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

    def until(self, begin: float, move: Transfer) -> float:
        """When the data of a load that could leave its queue at `begin` will about be there."""
        return max(self._data, begin + ADDRESS_CYCLES + self._bus.latency) + move.cycles

    def take(
        self, begin: float, move: Transfer, segments: int, rows: Rows, banks: Banks | None
    ) -> float:
        """A load could leave its queue at `begin`; returns when its rows may be read."""
        begin, latency = max(begin, self._taken), self._bus.latency
        first, burst = begin + ADDRESS_CYCLES, move.cycles / move.bursts
        start = max(self._data, first + latency)
        last, end = self._bursts(first, move, burst)
        self._taken = max(begin + segments, last, end - self._requests * burst - latency)
        if banks is not None:
            delay = banks.claim(rows[0], start, end, rows[1] - rows[0], LOAD_BUFFER)
            end += delay
            self._taken += delay
        self._data = end
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

    def until(self, begin: float, move: Transfer) -> float:
        """When a store that could leave its queue at `begin` will about have read its rows."""
        return max(self._data, begin + STORE_LATENCY) + move.cycles

    def take(
        self, begin: float, move: Transfer, words: int, row: int, banks: Banks
    ) -> tuple[float, float]:
        """A store of so many words, from `row` on, could leave its queue at `begin`.

        Returns when they are read, and when it is over.
        """
        begin = max(begin, self._taken)
        read = max(self._data - STORE_LATENCY, begin)
        cycles = max(move.cycles, words)
        cycles += banks.claim(row, read, read + cycles, words, STORE_BUFFER)
        data = read + STORE_LATENCY
        self._data = max(data + cycles, self._credit.last(data, move.bursts))
        ahead = min(1.0, DRAIN_WORDS / words) * cycles
        self._taken = max(begin + words, self._data - STORE_LATENCY - ahead)
        return self._taken + 1, self._data + self._bus.latency + RESPONSE_CYCLES


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


class Background:
    """What is derived from sums, row by row."""

    def __init__(self) -> None:
        self._free = 0.0
        self._derived: list[tuple[range, float]] = []

    def derive(self, work: TransformWork, begin: float, end: float) -> None:
        """The sums of `work`, whose steps are from `begin` to `end`, are complete."""
        row = SQUARED_FACTS_CYCLES if work.squares else FACTS_CYCLES
        latency = SQUARED_FACTS_LATENCY if work.squares else FACTS_LATENCY
        steps = (end - begin) / work.rows
        first = max(self._free, begin + steps + COUNTED_CYCLES)
        over = max(first + row * work.rows, end + COUNTED_CYCLES + row)
        self._free = over
        self._derived = [(work.slots, over + latency - row), *self._derived[:3]]

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

    def begin(self, begin: float, work: TransformWork) -> tuple[float, float]:
        """When the steps of a transform that could begin then do so, and end if none waits."""
        begin = max(begin, self._taken)
        if work.facts or work.finishes:
            begin = max(begin, self._background.ready(work.slots))
        return begin, begin + 1 + work.cycles

    def finish(self, work: TransformWork, begin: float, end: float) -> tuple[float, float]:
        """Its steps are from `begin` to `end`: when it has read its rows, and written others."""
        if work.finishes:
            self._background.derive(work, begin, end)
        self._taken = end
        return end + 1 - work.last_part, end + PLACED_CYCLES + lane_latency(work.scalings)
