"""`Ring`: first in, first out, at a fixed distance."""

import random

import pytest

from celosia.hw.lib.ring import Ring
from tests.support.streams import simulate


def delayed(distance: int, depth: int, likely: float) -> None:
    """Take each value `distance` cycles after it was put."""
    dut, rng = Ring(16, depth), random.Random(distance)

    async def bench(ctx):
        waiting: list[int | None] = [None] * distance
        for _ in range(400):
            value = rng.getrandbits(16) if rng.random() < likely else None
            ctx.set(dut.put, value is not None)
            ctx.set(dut.value, rng.getrandbits(16) if value is None else value)
            waiting.append(value)
            due = waiting.pop(0)
            ctx.set(dut.take, due is not None)
            if due is not None:
                assert ctx.get(dut.oldest) == due
            await ctx.tick()

    simulate(dut, bench)


@pytest.mark.parametrize("likely", [1, 0.5])
@pytest.mark.parametrize(("distance", "depth"), [(1, 2), (2, 2), (9, 10), (16, 16), (22, 22)])
def test_values_come_in_order(distance, depth, likely):
    delayed(distance, depth, likely)


def test_as_many_values_as_documented_may_wait():
    dut = Ring(8, 4)

    async def bench(ctx):
        ctx.set(dut.put, 1)
        for value in range(4):
            ctx.set(dut.value, value + 1)
            await ctx.tick()
        ctx.set(dut.put, 0)
        ctx.set(dut.take, 1)
        for value in range(4):
            assert ctx.get(dut.oldest) == value + 1
            await ctx.tick()

    simulate(dut, bench)


def test_a_ring_for_nothing_is_an_error():
    with pytest.raises(ValueError, match="depth: 1 is less than 2"):
        Ring(8, 1)
