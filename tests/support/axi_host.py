"""A host on the AXI4-Lite port."""

import random
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from celosia.hw.host.axi_top import LITE_CHANNELS
from celosia.isa.encoding import Command, pack_ring
from celosia.isa.registers.map import REGISTERS

__all__ = ["AxiHost", "RegisterError", "lite_pins"]

OKAY, SLAVE_ERROR = 0, 2


class RegisterError(Exception):
    """An access was answered with SLVERR."""


def lite_pins(port: Any) -> Any:
    """The streams of an `AxiLitePort` under the names of flat ports."""
    pins = SimpleNamespace()
    for channel, payload in LITE_CHANNELS.items():
        stream = getattr(port, channel)
        for name in ("valid", "ready"):
            setattr(pins, f"s_axi_{channel}{name}", getattr(stream, name))
        for name, (field, _) in payload.items():
            setattr(pins, f"s_axi_{channel}{name}", stream.p[field])
    return pins


class AxiHost:
    """Reads and writes registers through flat ports ``s_axi_...`` of `top`.

    With `stall`, each channel pauses with that chance in a cycle, address and data of a write in
    either order.  A test may change it.
    """

    def __init__(self, top: Any, *, stall: float = 0.0, seed: int = 0, domain: str = "port"):
        self.top = top
        self.domain = domain
        self.tail = 0
        """Of the ring, as far as the host has filled it."""
        self.stall, self._rng = stall, random.Random(seed)

    async def write_word(self, ctx, offset: int, word: int, strobe: int = 0b1111) -> int:
        """Returns the response."""
        payloads = {"aw": {"addr": offset, "prot": 2}, "w": {"data": word, "strb": strobe}}
        waiting = set(payloads)
        offered: set[str] = set()
        while waiting:
            offered |= {name for name in sorted(waiting) if self._rng.random() >= self.stall}
            for name in offered:
                self._set(ctx, name, valid=1, **payloads[name])
            sampled = [getattr(self.top, f"s_axi_{n}ready") for n in ("aw", "w")]
            *_, aw_ready, w_ready, b_valid = await ctx.tick(self.domain).sample(
                *sampled, self.top.s_axi_bvalid
            )
            assert not b_valid, "a response before the write"
            for name, ready in (("aw", aw_ready), ("w", w_ready)):
                if name in offered and ready:
                    offered.remove(name)
                    waiting.remove(name)
                    self._set(ctx, name, valid=0)
        (response,) = await self._take(ctx, "b", "resp")
        return response

    async def read_word(self, ctx, offset: int) -> tuple[int, int]:
        """Returns the response and the word."""
        while self._rng.random() < self.stall:
            await ctx.tick(self.domain)
        self._set(ctx, "ar", valid=1, addr=offset)
        await ctx.tick(self.domain).until(self.top.s_axi_arready)
        self._set(ctx, "ar", valid=0)
        response, word = await self._take(ctx, "r", "resp", "data")
        return response, word

    async def write(self, ctx, name: str, word: int) -> None:
        """Write one register, or a pair of registers."""
        if name not in REGISTERS:
            await self.write(ctx, f"{name}_LO", word & 0xFFFF_FFFF)
            await self.write(ctx, f"{name}_HI", word >> 32)
        elif await self.write_word(ctx, REGISTERS[name].offset, word) != OKAY:
            raise RegisterError(f"{name} = {word:#x}")

    async def read(self, ctx, name: str) -> int:
        """Read one register, or a pair."""
        if name not in REGISTERS:
            return await self.read(ctx, f"{name}_LO") | await self.read(ctx, f"{name}_HI") << 32
        response, word = await self.read_word(ctx, REGISTERS[name].offset)
        if response != OKAY:
            raise RegisterError(name)
        return word

    async def fields(self, ctx, name: str) -> dict[str, int]:
        """The fields of one register."""
        return REGISTERS[name].unpack(await self.read(ctx, name))

    async def set(self, ctx, name: str, **fields: int) -> None:
        """Write one register's fields."""
        await self.write(ctx, name, REGISTERS[name].pack(fields))

    async def enable_ring(self, ctx, base: int, size: int) -> None:
        """Take commands from a ring, which is empty."""
        await self.write(ctx, "RING_BASE", base)
        await self.write(ctx, "RING_SIZE", size)
        await self.set(ctx, "CONTROL", ring_enable=1)

    async def submit(self, ctx, memory: Any, program: Sequence[Command], ring: int, size: int):
        """Fill the ring at address `ring` of `memory`, and ring the doorbell."""
        for command in program:
            place = ring - memory.base + self.tail * 24
            memory.data[place : place + 24] = pack_ring([command])
            self.tail = (self.tail + 1) % size
        await self.write(ctx, "RING_TAIL", self.tail)
        await self.write(ctx, "RING_DOORBELL", 1)

    async def clear(self, ctx) -> None:
        """Forget an error."""
        keeps = (await self.fields(ctx, "CONTROL"))["ring_enable"]
        await self.set(ctx, "CONTROL", clear_error=1, ring_enable=keeps)

    def _set(self, ctx, channel: str, **values: int) -> None:
        for name, value in values.items():
            ctx.set(getattr(self.top, f"s_axi_{channel}{name}"), value)

    async def _take(self, ctx, channel: str, *names: str) -> tuple[int, ...]:
        """Accept a response; it must stand until then."""
        signals = [getattr(self.top, f"s_axi_{channel}{name}") for name in ("valid", *names)]
        before = None
        for _ in range(1000):
            go = self._rng.random() >= self.stall
            self._set(ctx, channel, ready=go)
            *_, valid = sampled = (await ctx.tick(self.domain).sample(*signals[1:], signals[0]))[2:]
            assert before is None or (valid and sampled == before), f"{channel} was changed"
            before = sampled if valid else None
            if valid and go:
                self._set(ctx, channel, ready=0)
                return sampled[:-1]
        raise AssertionError(f"no response on {channel}")
