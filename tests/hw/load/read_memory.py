"""A memory on a `ReadPort`, that is as unhelpful as AXI4 allows."""

import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from celosia.hw.bus.bus import PAGE_BYTES, RESPONSE_OKAY
from celosia.isa.config import AcceleratorConfig

__all__ = ["ReadMemory", "byte_at", "bytes_at"]

SLAVE_ERROR = 2


def byte_at(address: int) -> int:
    """What is in memory: a byte that depends on every bit of its address."""
    return (address * 0x9E37_79B9_7F4A_7C15 >> 29 ^ address >> 5) & 0xFF


def bytes_at(address: int, count: int) -> bytes:
    """`count` bytes from `address` on."""
    return bytes(byte_at(address + index) for index in range(count))


@dataclass
class ReadMemory:
    """Answers reads after `latency` cycles, in order; checks that each is legal.

    Offers and accepts as `stall` says: the probability that a channel pauses in a cycle.
    """

    config: AcceleratorConfig
    port: Any
    latency: int = 1
    stall: float = 0.0
    seed: int = 0
    pause: int = 0
    """Cycles between a beat that was accepted and the next one, within a burst or not."""
    ar_blocked_until: int = 0
    """No address is accepted before this cycle."""
    broken: Callable[[int], bool] = lambda address: False
    """Whether a beat with this (aligned) address is answered with an error."""
    requests: list[tuple[int, int]] = field(default_factory=list)
    """Address and beats of each request."""
    request_cycles: list[int] = field(default_factory=list)
    beat_cycles: list[int] = field(default_factory=list)
    most_in_flight: int = 0
    cycle: int = 0
    finished: bool = False
    """Set from outside, to end the testbench."""

    async def run(self, ctx) -> None:
        """The testbench."""
        rng = random.Random(self.seed)
        ar, r = self.port.ar, self.port.r
        beats: deque[tuple[int, int, bool]] = deque()  # When, where, and whether the last.
        in_flight, offered, next_beat = 0, None, 0
        while not self.finished:
            ctx.set(ar.ready, ar_ready := self._takes_address(rng))
            ctx.set(r.valid, 0)
            due = bool(beats) and max(beats[0][0], next_beat) <= self.cycle
            r_valid = due and rng.random() >= self.stall
            while True:  # An offer of a beat stands until it is accepted.
                if r_valid:
                    self._offer(ctx, r, *beats[0][1:])
                sampled = ar.valid, ar.p.address, ar.p.beats_minus_1, r.ready
                _, _, ar_valid, address, beats_minus_1, r_ready = await ctx.tick().sample(*sampled)
                assert offered is None or offered == (ar_valid, address, beats_minus_1), (
                    "AR changed"
                )
                offered = (ar_valid, address, beats_minus_1) if ar_valid and not ar_ready else None
                if r_valid and r_ready:
                    self.beat_cycles.append(self.cycle)
                    next_beat = self.cycle + 1 + self.pause
                    in_flight -= beats.popleft()[2]
                if ar_valid and ar_ready:
                    in_flight += 1
                    self._accept(beats, address, beats_minus_1 + 1)
                self.most_in_flight = max(self.most_in_flight, in_flight)
                self.cycle += 1
                if not r_valid or r_ready or self.finished:
                    break
                ctx.set(ar.ready, ar_ready := self._takes_address(rng))

    def _takes_address(self, rng: random.Random) -> bool:
        return rng.random() >= self.stall and self.cycle >= self.ar_blocked_until

    def _accept(self, beats: deque, address: int, count: int) -> None:
        width = self.config.bus_bytes
        start = address // width * width
        assert start // PAGE_BYTES == (start + (count - 1) * width) // PAGE_BYTES, "4 KiB"
        self.requests.append((address, count))
        self.request_cycles.append(self.cycle)
        for index in range(count):
            beats.append((self.cycle + self.latency, start + index * width, index == count - 1))

    def _offer(self, ctx, r, address: int, last: bool) -> None:
        broken = self.broken(address)
        data = 0 if broken else int.from_bytes(bytes_at(address, self.config.bus_bytes), "little")
        response = SLAVE_ERROR if broken else RESPONSE_OKAY
        ctx.set(r.valid, 1)
        ctx.set(r.payload, {"data": data, "response": response, "last": last})
