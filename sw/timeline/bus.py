"""How long rows of tensors take on the memory's channels."""

from collections import deque
from dataclasses import dataclass
from math import gcd, inf
from typing import Final

from celosia.isa.config import MAX_REQUEST_BYTES, AcceleratorConfig
from celosia.isa.memory import MemoryTiming

__all__ = ["Bursts", "Bus", "Transfer"]

REQUEST_CYCLES: Final = 6
"""How long a burst is in flight beyond the memory's latency and its beats."""


@dataclass(frozen=True, slots=True)
class Transfer:
    """The cost of what one operation moves."""

    bytes: int
    bursts: int
    cycles: float
    """Cycles of the channel, if nothing holds it up."""


class Bus:
    """A configuration's bus at a memory."""

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
        self.write_again = self.latency + 1 + _slowed(stalls["aw"]) + _slowed(stalls["b"])
        """Cycles from the last beat of a burst to the address of one that waited for it."""
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
            beat, address = self.write_beat, self.write_address
            if local_row:
                beat, address = self.read_beat, self.read_address
            least = max(len(parts) * address, -(-size // local_row) if local_row else 0)
            period = self.bytes // gcd(pitch, self.bytes)
            cycles = 0.0
            for row in range(min(rows, period)):
                first = (start + row * pitch) % self.bytes
                beats = sum(-(-(first + part) // self.bytes) for part in parts)
                cycles += max(beats * beat, least) * len(range(row, rows, period))
            self._known[key] = Transfer(rows * size, rows * len(parts), cycles)
        return self._known[key]


class Bursts:
    """The bursts of a channel: only so many are on their way, from their address to their end."""

    def __init__(self, requests: int, again: float, flight: float, pace: float):
        self._requests, self._again, self._flight, self._pace = requests, again, flight, pace
        self._over = deque([-inf] * requests, requests)
        """When the data of each of the last ones were over."""

    def take(
        self, first: float, free: float, move: Transfer, burst: float, *, latency: float = 0
    ) -> tuple[float, float]:
        """The next bursts are those of `move`, of `burst` cycles, from an address at `first` on.

        Their data follow an address by `latency`, on a channel that is free from `free` on.  Where
        as many as may be on their way hide how long they are, they are not followed one by one.
        Returns when the last address is sent, and when all data were there.
        """
        count, over = move.bursts, self._over
        if self._flight <= self._requests * burst and over[0] + self._again <= first:
            end = max(free, first + latency) + burst * count
            over.extend(end - burst * left for left in reversed(range(min(count, len(over)))))
            return first, end
        address, again, pace = first, self._again, self._pace
        for _ in range(count):
            # Comparisons, since there are many bursts: a call of `max` takes several times as long.
            if (room := over[0] + again) > address:
                address = room
            if (data := address + latency) > free:
                free = data
            free += burst
            over.append(free)
            address += pace
        return address - pace, free

    def wait(self, move: Transfer, cycles: float) -> None:
        """The data of the last bursts, those of `move`, take so many cycles longer."""
        count = min(move.bursts, self._requests)
        waiting = [self._over.pop() + cycles for _ in range(count)]
        self._over.extend(reversed(waiting))


def _slowed(percent: int) -> float:
    """Cycles that one handshake takes, where each cycle is refused at this chance."""
    return 100 / max(1, 100 - percent)
