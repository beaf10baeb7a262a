"""How long rows of tensors take on the memory's channels."""

from dataclasses import dataclass
from math import gcd
from typing import Final

from celosia.isa.config import MAX_REQUEST_BYTES, AcceleratorConfig
from celosia.isa.memory import MemoryTiming

__all__ = ["Bus", "Credit", "Transfer"]

REQUEST_CYCLES: Final = 6
"""How long a burst is in flight beyond the memory's latency and its beats."""


@dataclass(frozen=True, slots=True)
class Transfer:
    """The cost of what one operation moves."""

    bytes: int
    bursts: float
    cycles: float
    """Cycles of the channel, if nothing holds it up."""


class Bus:
    """A configuration's bus at a memory.

    Rows begin anywhere in a beat, if their pitch allows it: what a row costs is then a mean.
    """

    def __init__(self, config: AcceleratorConfig, timing: MemoryTiming):
        stalls = dict(zip(("ar", "r", "aw", "w", "b"), timing.stalls(), strict=True))
        self.bytes = config.bus_bytes
        narrow = config.bus_bytes / min(config.bus_bytes, timing.bytes_per_cycle)
        self.read_beat = max(narrow, _slowed(stalls["r"]))
        self.write_beat = max(narrow, _slowed(stalls["w"]))
        self.latency = timing.latency * (1.5 if timing.reorder else 1)
        flight = self.latency + REQUEST_CYCLES
        self.read_flight = flight + _slowed(stalls["ar"]) + _slowed(stalls["r"])
        self.read_again = _slowed(stalls["ar"]) + _slowed(stalls["r"]) - 2
        """Cycles from the end of a burst to the address of one that waited for it."""
        self.write_flight = flight + _slowed(stalls["aw"]) + _slowed(stalls["b"])
        late = 2.0 if timing.ready_after_valid else 1.0
        self.read_address = max(_slowed(stalls["ar"]), late)
        self.write_address = max(_slowed(stalls["aw"]), late)
        self._known: dict[tuple[int, int, int, int, int], Transfer] = {}

    def read(
        self, rows: int, size: int, pitch: int, start: int = 0, local_row: int = MAX_REQUEST_BYTES
    ) -> Transfer:
        """`rows` rows of `size` bytes, `pitch` bytes apart; the first one's address is `start`.

        They become local rows of `local_row` bytes, of which one is written in a cycle: a wider bus
        than that waits for them.
        """
        return self._transfer(rows, size, pitch, start, local_row)

    def write(self, rows: int, size: int, pitch: int, start: int = 0) -> Transfer:
        """`rows` rows of `size` bytes that go to memory, `pitch` bytes apart from `start` on."""
        return self._transfer(rows, size, pitch, start, 0)

    def _transfer(self, rows: int, size: int, pitch: int, start: int, local_row: int) -> Transfer:
        """A read into local rows of `local_row` bytes; with 0, a write."""
        key = (rows, size, pitch, start % self.bytes, local_row)
        if key not in self._known:
            full, rest = divmod(size, MAX_REQUEST_BYTES)
            parts = [MAX_REQUEST_BYTES] * full + [rest] * bool(rest)
            beats = sum(self._beats(part, pitch, key[3], rows) for part in parts)
            bursts = float(len(parts))
            cycles = beats * (self.read_beat if local_row else self.write_beat)
            cycles = max(cycles, bursts * (self.read_address if local_row else self.write_address))
            if local_row:
                cycles = max(cycles, float(-(-size // local_row)))
            self._known[key] = Transfer(rows * size, rows * bursts, rows * cycles)
        return self._known[key]

    def _beats(self, size: int, pitch: int, start: int, rows: int) -> float:
        """The mean beats of a burst of `size` bytes, over rows that begin `pitch` bytes apart."""
        step = gcd(pitch, self.bytes) if rows > 1 else self.bytes
        first = start % step
        starts = range(first, self.bytes, step) if rows > 1 else (start,)
        return sum(-(-(each + size) // self.bytes) for each in starts) / len(starts)


class Credit:
    """Bursts in flight: between their address and their end there are only so many."""

    def __init__(self, requests: int, flight: float):
        self._pace, self._flight = flight / requests, flight
        self._due = 0.0
        """When the bursts so far would have been sent, one after the other at an even pace."""

    def last(self, first: float, bursts: float) -> float:
        """When the last one of so many bursts is sent, the first of which could be at `first`."""
        self._due = max(self._due, first) + bursts * self._pace
        return self._due - self._flight


def _slowed(percent: int) -> float:
    """Cycles that one handshake takes, where each cycle is refused at this chance."""
    return 100 / max(1, 100 - percent)
