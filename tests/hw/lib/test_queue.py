"""`Queue`: order, depth, and the documented rate."""

import random

import pytest
from amaranth import unsigned

from celosia.hw.lib.queue import Queue
from tests.support.streams import never, receive, send, simulate, sometimes

KINDS = pytest.mark.parametrize(
    ("depth", "clocked"), [(2, False), (8, False), (2, True), (8, True), (64, True)]
)


@KINDS
@pytest.mark.parametrize("seed", range(2))
def test_keeps_the_order_under_backpressure(depth, clocked, seed):
    dut, rng = Queue(unsigned(70), depth, clocked), random.Random(seed)
    entries = [rng.getrandbits(70) for _ in range(2 * depth + 60)]

    async def producer(ctx):
        # As fast as can be at first, until it is full; then there are few.
        await send(ctx, dut.i, entries[: depth + 20], never)
        await send(ctx, dut.i, entries[depth + 20 :], sometimes(seed))

    async def consumer(ctx):
        assert await receive(ctx, dut.o, len(entries), sometimes(seed + 1)) == entries

    simulate(dut, producer, consumer)


@KINDS
def test_holds_as_many_entries_as_it_is_deep(depth, clocked):
    dut = Queue(unsigned(8), depth, clocked)

    async def producer(ctx):
        await send(ctx, dut.i, range(depth))
        assert not ctx.get(dut.i.ready)

    simulate(dut, producer)


@KINDS
def test_latency_and_throughput_are_as_documented(depth, clocked):
    dut, arrivals, count = Queue(unsigned(8), depth, clocked), [], 10

    async def producer(ctx):
        await send(ctx, dut.i, range(count), never)

    async def consumer(ctx):
        ctx.set(dut.o.ready, 1)
        for cycle in range(Queue.LATENCY + count + 1):
            if ctx.get(dut.o.valid):
                arrivals.append(cycle)
            await ctx.tick()

    simulate(dut, producer, consumer)
    assert arrivals == [Queue.LATENCY + n for n in range(count)]


@pytest.mark.parametrize("depth", [-2, 0, 1, 3, 12])
def test_a_depth_that_is_no_power_of_two_from_2_on_is_refused(depth):
    with pytest.raises(ValueError, match=rf"^depth: {depth} is not a power of two of at least 2$"):
        Queue(unsigned(8), depth)
