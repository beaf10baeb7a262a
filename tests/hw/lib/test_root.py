"""`Root` against the vectors and Python's `math.isqrt`."""

import math
import random
from pathlib import Path

import numpy as np
import pytest

from celosia.hw.lib.root import Root
from tests.support.streams import Stall, never, receive, send, simulate, sometimes

VECTORS = Path(__file__).parents[2] / "vectors" / "isqrt.npz"
MOST = (1 << 48) - 1


def roots(numbers: list[int], in_stall: Stall = never, out_stall: Stall = never) -> list[int]:
    dut, received = Root(), []

    async def bench(ctx):
        received.extend(await receive(ctx, dut.o, len(numbers), out_stall))

    async def feed(ctx):
        await send(ctx, dut.i, numbers, in_stall)

    simulate(dut, bench, feed, deadline=100 * len(numbers) + 100)
    return received


def test_vectors():
    given = np.load(VECTORS)
    chosen = slice(None, None, 5)
    assert roots(given["n"][chosen].tolist()) == given["root"][chosen].tolist()


@pytest.mark.parametrize("seed", range(2))
def test_random_numbers_and_neighbors_of_squares_under_stalls(seed):
    rng = random.Random(seed)
    numbers = [rng.getrandbits(48) >> rng.randrange(48) for _ in range(60)]
    squares = [(rng.getrandbits(24) >> rng.randrange(24)) ** 2 for _ in range(40)]
    numbers += [min(max(square + step, 0), MOST) for square in squares for step in (-1, 0, 1)]
    numbers += [*range(20), MOST, MOST - 1, ((1 << 24) - 1) ** 2]
    expected = [math.isqrt(number) for number in numbers]
    assert roots(numbers, sometimes(seed), sometimes(seed + 9)) == expected


def test_a_result_waits_until_it_is_taken():
    numbers = [(1 << 40) - 1, 0, 81]
    assert roots(numbers, out_stall=lambda: 3 * Root.LATENCY) == [math.isqrt(n) for n in numbers]


def test_latency_and_throughput_are_as_documented():
    dut = Root()

    async def bench(ctx):
        ctx.set(dut.i.valid, 1)
        ctx.set(dut.o.ready, 1)
        for cycle in range(4 * Root.LATENCY):
            ctx.set(dut.i.p, cycle)
            assert ctx.get(dut.i.ready) == (cycle % Root.LATENCY == 0)
            assert ctx.get(dut.o.valid) == (cycle > 0 and cycle % Root.LATENCY == 0)
            if cycle % Root.LATENCY == 0 and cycle:
                assert ctx.get(dut.o.p) == math.isqrt(cycle - Root.LATENCY)
            await ctx.tick()

    simulate(dut, bench)
