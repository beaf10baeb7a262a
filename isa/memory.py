"""The memory behind the bus, as simulations set it up: where it begins and how it behaves."""

from dataclasses import dataclass
from typing import Final, Literal

__all__ = ["ALIGNMENT", "CHANNELS", "MEMORY_BASE", "MemoryFault", "MemoryTiming"]

ALIGNMENT: Final = 64
"""Bytes: what stands in memory begins at a multiple of this unless something else is asked for."""

MEMORY_BASE = 0x8000_0000
"""First byte address of a simulated device's memory."""


CHANNELS: Final = ("ar", "r", "aw", "w", "b")
"""The AXI channels of the memory port."""


@dataclass(frozen=True, kw_only=True)
class MemoryFault:
    """Bursts that a simulated memory answers with an error, though they are legal."""

    way: Literal["read", "write"]
    place: int
    """An address: the beat that holds it fails, always.  With `by_number`: the burst that so many
    others of its direction precede fails, once."""
    by_number: bool = False
    response: Literal["slverr", "decerr"] = "slverr"

    def __str__(self) -> str:
        place = f"#{self.place}" if self.by_number else f"{self.place:#x}"
        return f"{self.way}:{place}:{self.response}"


@dataclass(frozen=True, kw_only=True)
class MemoryTiming:
    """How a simulated memory behaves.  The functional model ignores it."""

    latency: int = 40
    """Cycles from an accepted read address to its first beat, and from the last write beat to
    its response."""
    bytes_per_cycle: int = 16
    """Sustained bandwidth of reads, and of writes, each; may be below the bus width."""
    stall_percent: int = 0
    """Chance that a channel refuses, or holds back, in a cycle."""
    channel_stalls: tuple[tuple[str, int], ...] = ()
    """Channels (`CHANNELS`) with a chance of their own, and that chance."""
    reorder: bool = False
    """Responses are in order within an ID only, and take up to twice the latency."""
    ready_after_valid: bool = False
    """Ready waits for valid, and that of AW for write data, too."""
    faults: tuple[MemoryFault, ...] = ()
    """The bursts that fail."""
    seed: int = 0
    """Seed of the stalls, of the order of responses, and of the garbage in memories at power-on."""

    def stalls(self) -> tuple[int, ...]:
        """The chance of each of `CHANNELS`."""
        own = dict(self.channel_stalls)
        return tuple(own.get(channel, self.stall_percent) for channel in CHANNELS)
