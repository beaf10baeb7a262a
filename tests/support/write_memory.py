"""A memory behind the write channels that checks every rule of theirs."""

import random
from collections import deque
from dataclasses import dataclass, field

from celosia.hw.bus.bus import PAGE_BYTES
from celosia.isa.config import MAX_REQUEST_BYTES, AcceleratorConfig

__all__ = ["WriteBurst", "WriteMemory"]


@dataclass
class WriteBurst:
    """A burst as the memory saw it."""

    address: int
    beats: int
    offered: int
    """The cycle in which its address was first on offer."""
    beat_cycles: list[int] = field(default_factory=list)
    useful: int = 0
    """Bytes with a strobe."""


class WriteMemory:
    """Takes bursts and keeps their bytes in `bytes`.

    A test calls `drive` at the start of each cycle and `step` at its end.  With a `seed`, each
    channel is stalled at random; without, all are ready.  The response of a burst is offered
    `latency` cycles after its last beat, with SLVERR if the burst's number is in `errors`.
    """

    def __init__(self, config: AcceleratorConfig, *, seed=None, latency=3, errors=()):
        self.config = config
        self.bytes: dict[int, int] = {}
        self.bursts: list[WriteBurst] = []
        self.responses = 0
        self.most_in_flight = 0
        self.accepted = 0
        """Bursts whose address was accepted."""
        self.written = 0
        """Bursts whose last beat was accepted."""
        self.ready = [1, 1]
        """For AW and W; what a test sets here holds if there is no seed."""
        self._rng = random.Random(seed) if seed is not None else None
        self._latency, self._errors = latency, set(errors)
        self._due: deque[int] = deque()
        self._held: list = [None, None]
        self._response = None

    def signals(self, port) -> list:
        """What `step` wants to have sampled."""
        return [
            port.aw.valid, port.aw.p.address, port.aw.p.beats_minus_1, port.aw.ready,
            port.w.valid, port.w.p.data, port.w.p.strobe, port.w.p.last, port.w.ready,
            port.b.valid, port.b.ready,
        ]  # fmt: skip

    def drive(self, ctx, port, cycle: int) -> None:
        """Set the inputs of the device for this cycle."""
        aw, w = [self._rng.random() < 0.6 for _ in range(2)] if self._rng else self.ready
        ctx.set(port.aw.ready, aw)
        ctx.set(port.w.ready, w)
        willing = not self._rng or self._rng.random() < 0.6
        if self._response is None and self._due and self._due[0] <= cycle and willing:
            self._due.popleft()
            self._response = 2 if self.responses in self._errors else 0
            ctx.set(port.b.valid, 1)
            ctx.set(port.b.p.response, self._response)
        elif self._response is None:
            ctx.set(port.b.valid, 0)
            ctx.set(port.b.p.response, 3)

    def step(self, cycle: int, sampled) -> None:
        """Digest what `signals` were at the end of the cycle."""
        (
            aw_valid,
            address,
            beats_minus_1,
            aw_ready,
            w_valid,
            *w_payload,
            w_ready,
            b_valid,
            b_ready,
        ) = sampled
        self._check_offer(0, aw_valid, (address, beats_minus_1), aw_ready)
        self._check_offer(1, w_valid, tuple(w_payload), w_ready)
        if aw_valid and len(self.bursts) == self.accepted:
            self._open(WriteBurst(address, beats_minus_1 + 1, cycle))
        self.accepted += aw_valid and aw_ready
        if w_valid:
            assert self.written < len(self.bursts), "data before its address"
            if w_ready:
                self._beat(cycle, *w_payload)
        if b_valid and b_ready:
            self.responses += 1
            self._response = None

    def _check_offer(self, channel: int, valid, payload, ready) -> None:
        held = self._held[channel]
        assert held is None or (valid and payload == held), "offer withdrawn or changed"
        self._held[channel] = payload if valid and not ready else None

    def _open(self, burst: WriteBurst) -> None:
        size = self.config.bus_bytes
        end = burst.address // size * size + burst.beats * size
        page_end = (burst.address // PAGE_BYTES + 1) * PAGE_BYTES
        assert end <= page_end, "a burst crosses a page"
        self.bursts.append(burst)
        self.most_in_flight = max(self.most_in_flight, len(self.bursts) - self.responses)

    def _beat(self, cycle: int, data: int, strobe: int, last: int) -> None:
        size = self.config.bus_bytes
        burst = self.bursts[self.written]
        start = burst.address // size * size + len(burst.beat_cycles) * size
        burst.beat_cycles.append(cycle)
        lanes = [lane for lane in range(size) if strobe >> lane & 1]
        assert lanes == list(range(lanes[0], lanes[-1] + 1)), "a gap in the strobes"
        for lane in lanes:
            assert start + lane not in self.bytes, f"{start + lane:#x} is written twice"
            assert start + lane >= burst.address
            self.bytes[start + lane] = data >> 8 * lane & 0xFF
        burst.useful += len(lanes)
        assert last == (len(burst.beat_cycles) == burst.beats), "wrong last"
        if last:
            assert burst.useful <= MAX_REQUEST_BYTES
            self.written += 1
            self._due.append(cycle + self._latency)
