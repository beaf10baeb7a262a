"""Driving and checking ready/valid streams in simulation."""

import random
from collections.abc import Callable, Sequence
from typing import Any

from amaranth.hdl import Elaboratable
from amaranth.lib import stream

from tests.support.reused_simulator import run_testbenches

__all__ = ["Stall", "never", "offer_cycles", "receive", "send", "simulate", "sometimes"]

PERIOD = 1e-6
"""Of the simulated clock, in seconds."""

Stall = Callable[[], int]
"""Returns how many cycles to wait before the next transfer."""


def never() -> int:
    """Transfer on every cycle."""
    return 0


def sometimes(seed: int) -> Stall:
    """Wait 0 to 3 cycles, reproducibly."""
    rng = random.Random(seed)
    return lambda: rng.choice((0, 0, 0, 1, 3))


async def send(ctx, port: stream.Interface, payloads: Sequence[Any], stall: Stall = never) -> None:
    """Offer `payloads` in order."""
    for payload in payloads:
        for _ in range(stall()):
            await ctx.tick()
        ctx.set(port.payload, payload)
        ctx.set(port.valid, 1)
        await ctx.tick().until(port.ready)
        ctx.set(port.valid, 0)


async def receive(ctx, port: stream.Interface, count: int, stall: Stall = never) -> list[Any]:
    """Accept `count` payloads, checking that an offer stands unchanged until it is accepted."""
    payloads = []
    for _ in range(count):
        offered = None
        for _ in range(stall()):
            _, _, valid, payload = await ctx.tick().sample(port.valid, port.payload)
            assert offered is None or (valid and payload == offered), "offer withdrawn or changed"
            offered = payload if valid else None
        ctx.set(port.ready, 1)
        (payload,) = await ctx.tick().sample(port.payload).until(port.valid)
        assert offered is None or payload == offered, "offer changed"
        ctx.set(port.ready, 0)
        payloads.append(payload)
    return payloads


def simulate(
    dut: Elaboratable,
    *testbenches: Callable,
    background: Sequence[Callable] = (),
    deadline: int = 10_000,
) -> None:
    """Run `testbenches` to completion; fail if that takes more than `deadline` cycles.

    Those in `background` run along, but nobody waits for their end.
    """

    async def watchdog(ctx) -> None:
        # Not `ctx.tick().repeat()`: abandoning that one warns on Python 3.11 and 3.12.
        await ctx.delay(deadline * PERIOD)
        raise AssertionError(f"the simulation did not finish in {deadline} cycles")

    run_testbenches(dut, testbenches, [*background, watchdog], PERIOD)


def offer_cycles(
    dut: Elaboratable,
    port: stream.Interface,
    payloads: Sequence[Any],
    offered: stream.Interface,
    cycles: int,
) -> list[int]:
    """In which of `cycles` there is something on `offered`, when nobody stalls."""
    found = []

    async def producer(ctx) -> None:
        await send(ctx, port, payloads)

    async def consumer(ctx) -> None:
        ctx.set(offered.ready, 1)
        for cycle in range(cycles):
            if ctx.get(offered.valid):
                found.append(cycle)
            await ctx.tick()

    simulate(dut, producer, consumer)
    return found
