"""A memory on the AXI4 port of `AxiTop`, as unhelpful as the standard allows, and strict."""

import random
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from celosia.hw.bus.bus import PAGE_BYTES
from celosia.isa.registers.map import BusId

__all__ = ["CHANNELS", "AxiMemory", "ReadBurst"]

CHANNELS = ("ar", "r", "aw", "w", "b")
SLAVE_ERROR = 2

Fails = Callable[[int], bool]


def _never(number: int) -> bool:
    return False


@dataclass
class ReadBurst:
    """A burst whose address was accepted."""

    id: int
    address: int
    beats: int
    due: int
    """The cycle from which on it may be answered."""
    sent: int = 0


@dataclass
class _WriteBurst:
    address: int
    beats: int
    due: int = 0


@dataclass
class AxiMemory:
    """Memory from `base` on, one of `data`'s bytes per address.

    `stalls` is the chance of each channel to pause in a cycle; with `late`, ready waits for valid.
    With `reorder`, read bursts of different IDs are answered in any order, beats interleaved.
    `read_fails` and `write_fails` say which bursts, counted in the order of their addresses, are
    answered with an error; `silent` ones are never answered.
    """

    top: Any
    base: int = 0x8000_0000
    data: bytearray = field(default_factory=lambda: bytearray(1 << 16))
    latency: int = 5
    stalls: Mapping[str, float] = field(default_factory=dict)
    late: bool = False
    reorder: bool = False
    seed: int = 0
    read_fails: Fails = _never
    ring_fails: Fails = _never
    write_fails: Fails = _never
    silent: Fails = _never
    reads: list[ReadBurst] = field(default_factory=list)
    """Every one, in the order of addresses."""
    writes: int = 0
    """Bursts that were answered."""
    cycle: int = 0
    beat_cycles: list[int] = field(default_factory=list)
    """When a beat of read data was accepted."""
    _open: list[ReadBurst] = field(default_factory=list)
    _addresses: deque[_WriteBurst] = field(default_factory=deque)
    _responses: deque[tuple[int, int]] = field(default_factory=deque)
    _opened: int = 0
    _held: dict[str, Any] = field(default_factory=dict)

    @property
    def quiet(self) -> bool:
        """Nothing is owed."""
        return not (self._open or self._addresses or self._responses)

    async def run(self, ctx) -> None:
        """The testbench, without an end."""
        top, rng = self.top, random.Random(self.seed)
        size = len(top.m_axi_rdata) // 8
        outputs = [getattr(top, f"m_axi_{name}") for name in _OUTPUTS]
        beat, response = None, None
        seen = dict.fromkeys(("ar", "aw", "w"), False)
        while True:
            go = {name: rng.random() >= self.stalls.get(name, 0) for name in CHANNELS}
            ready = {name: go[name] and (not self.late or seen[name]) for name in seen}
            for name, value in ready.items():
                ctx.set(getattr(top, f"m_axi_{name}ready"), value)
            if beat is None and go["r"] and (beat := self._next_beat(rng)):
                self._offer_beat(ctx, beat, size)
            if response is None and go["b"] and self._responses:
                due, code = self._responses[0]
                if due <= self.cycle:
                    response = self._responses.popleft()
                    ctx.set(top.m_axi_bresp, code)
                    ctx.set(top.m_axi_bid, BusId.DATA)
            ctx.set(top.m_axi_rvalid, beat is not None)
            ctx.set(top.m_axi_bvalid, response is not None)
            *_, rst = sampled = await ctx.tick("port").sample(*outputs, top.rst)
            pins = dict(zip(_OUTPUTS, sampled[-len(_OUTPUTS) - 1 :], strict=False))
            if rst:
                continue
            for name in seen:
                seen[name] = bool(pins[f"{name}valid"])
                self._stands(name, pins, ready[name])
            self.cycle += 1
            if pins["arvalid"] and ready["ar"]:
                self._read(pins, size)
            if pins["awvalid"] and ready["aw"]:
                self._write(pins, size)
            if pins["wvalid"]:
                self._data(pins, size, ready["w"])
            if beat is not None and pins["rready"]:
                self.beat_cycles.append(self.cycle)
                beat = None
            if response is not None and pins["bready"]:
                self.writes += 1
                response = None

    def _stands(self, channel: str, pins: dict, ready: bool) -> None:
        """An offer stays until it is accepted."""
        names = [n for n in _OUTPUTS if n.startswith(channel) and n != f"{channel}ready"]
        offer = tuple(pins[name] for name in names)
        held = self._held.get(channel)
        assert held is None or offer == held, f"{channel}: an offer was changed or withdrawn"
        self._held[channel] = offer if pins[f"{channel}valid"] and not ready else None

    def _check(self, pins: dict, channel: str, size: int) -> tuple[int, int]:
        address, beats = pins[f"{channel}addr"], pins[f"{channel}len"] + 1
        start = address // size * size
        last = start + beats * size - 1
        assert start // PAGE_BYTES == last // PAGE_BYTES, f"{channel}: a page is crossed"
        assert (pins[f"{channel}burst"], 1 << pins[f"{channel}size"]) == (1, size)
        assert self.base <= address < self.base + len(self.data), f"{channel}: {address:#x}"
        return address, beats

    def _read(self, pins: dict, size: int) -> None:
        burst = ReadBurst(pins["arid"], *self._check(pins, "ar", size), self.cycle + self.latency)
        assert burst.id in set(BusId)
        if not self.silent(len(self.reads)):
            self._open.append(burst)
        self.reads.append(burst)

    def _next_beat(self, rng: random.Random) -> tuple[ReadBurst, int] | None:
        oldest = list({burst.id: burst for burst in reversed(self._open)}.values())
        if not oldest:
            return None
        burst = rng.choice(oldest) if self.reorder else self._open[0]
        if burst.due > self.cycle:
            return None
        burst.sent += 1
        if burst.sent == burst.beats:
            self._open.remove(burst)
        return burst, burst.sent - 1

    def _offer_beat(self, ctx, beat: tuple[ReadBurst, int], size: int) -> None:
        burst, index = beat
        top, start = self.top, burst.address // size * size + index * size - self.base
        same = [other for other in self.reads if other.id == burst.id]
        fails = self.ring_fails if burst.id == BusId.RING else self.read_fails
        bad = fails(next(n for n, other in enumerate(same) if other is burst))
        word = self.data[start : start + size].ljust(size, b"\0")
        ctx.set(top.m_axi_rdata, 0 if bad else int.from_bytes(word, "little"))
        ctx.set(top.m_axi_rresp, SLAVE_ERROR if bad else 0)
        ctx.set(top.m_axi_rlast, index == burst.beats - 1)
        ctx.set(top.m_axi_rid, burst.id)

    def _write(self, pins: dict, size: int) -> None:
        assert pins["awid"] == BusId.DATA
        self._addresses.append(_WriteBurst(*self._check(pins, "aw", size)))

    def _data(self, pins: dict, size: int, ready: bool) -> None:
        assert self._addresses or pins["awvalid"], "data before its address"
        if not ready:
            return
        assert self._addresses, "data is taken before its address"
        burst = self._addresses[0]
        start = burst.address // size * size - self.base
        bad = self.write_fails(self._opened)
        for lane in range(size):
            if pins["wstrb"] >> lane & 1 and not bad:
                assert start + lane >= burst.address - self.base
                self.data[start + lane] = pins["wdata"] >> 8 * lane & 0xFF
        burst.address = start + size + self.base
        burst.beats -= 1
        assert pins["wlast"] == (burst.beats == 0)
        if not burst.beats:
            self._addresses.popleft()
            self._opened += 1
            self._responses.append((self.cycle + self.latency, SLAVE_ERROR if bad else 0))


_OUTPUTS = (
    *(f"{channel}{name}" for channel in ("ar", "aw") for name in ("valid", "addr", "len", "size")),
    *("arburst", "awburst", "arid", "awid", "rready", "bready"),
    *("wvalid", "wdata", "wstrb", "wlast"),
)
