"""`EarlyQueue`: order, depth, the documented rate, and what is early."""

import random

import pytest
from amaranth import unsigned
from amaranth.lib import data

from celosia.hw.lib.early_queue import EarlyQueue
from tests.support.streams import never, receive, send, simulate, sometimes

ENTRY = data.StructLayout({"low": 3, "bank": 2, "high": unsigned(66), "mark": 1})
BYTE = data.StructLayout({"value": 8})


def entry_of(bits: int) -> dict:
    value = ENTRY.from_bits(bits)
    return {name: value[name] for name in ENTRY.members}


@pytest.mark.parametrize("early", [(), ("bank",), ("mark", "low"), tuple(ENTRY.members)])
@pytest.mark.parametrize("depth", [2, 3, 5, 6])
def test_keeps_the_order_of_all_fields_under_backpressure(early, depth):
    dut, rng = EarlyQueue(ENTRY, early, depth), random.Random(depth)
    entries = [entry_of(rng.getrandbits(ENTRY.size)) for _ in range(60)]

    async def producer(ctx):
        await send(ctx, dut.i, entries, sometimes(depth))

    async def consumer(ctx):
        found = await receive(ctx, dut.o, len(entries), sometimes(depth + 1))
        assert [{name: each[name] for name in ENTRY.members} for each in found] == entries

    simulate(dut, producer, consumer)


@pytest.mark.parametrize("depth", [2, 5])
def test_holds_as_many_entries_as_it_is_deep(depth):
    dut = EarlyQueue(BYTE, ("value",), depth)

    async def producer(ctx):
        await send(ctx, dut.i, [{"value": number} for number in range(depth)])
        await ctx.tick().repeat(3)
        assert not ctx.get(dut.i.ready)

    simulate(dut, producer)


@pytest.mark.parametrize("early", [(), ("value",)])
def test_latency_and_throughput_are_as_documented(early):
    dut, arrivals, count = EarlyQueue(BYTE, early, 5), [], 10

    async def producer(ctx):
        await send(ctx, dut.i, [{"value": number} for number in range(count)], never)

    async def consumer(ctx):
        ctx.set(dut.o.ready, 1)
        for cycle in range(EarlyQueue.LATENCY + count + 1):
            if ctx.get(dut.o.valid):
                arrivals.append((cycle, ctx.get(dut.o.p.value)))
            await ctx.tick()

    simulate(dut, producer, consumer)
    assert arrivals == [(EarlyQueue.LATENCY + n, n) for n in range(count)]


def test_it_is_told_in_each_cycle_whether_there_is_an_entry():
    dut = EarlyQueue(BYTE, (), 3)

    async def bench(ctx):
        held = 0
        for put, take in [(1, 0), (0, 1), (0, 1), (1, 1), (1, 0), (0, 0), (0, 1), (0, 1), (0, 1)]:
            ctx.set(dut.i.valid, put)
            ctx.set(dut.o.ready, take)
            assert ctx.get(dut.held) == (held > 0)
            held += put - (take and ctx.get(dut.o.valid))
            await ctx.tick()
        assert held == 0
        assert not ctx.get(dut.held)

    simulate(dut, bench)


def test_what_makes_no_queue_is_refused():
    with pytest.raises(ValueError, match="depth: 1 is less than 2"):
        EarlyQueue(BYTE, (), 1)
    with pytest.raises(ValueError, match="early: row is not a field of the entries"):
        EarlyQueue(BYTE, ("row",))
