"""`Tokens` against lists of stores and loads."""

import random
from dataclasses import dataclass

import pytest

from celosia.hw.issue.tokens import Tokens
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding.tokens import COUNT_BITS, COUNT_MASK, TOKENS
from tests.support.streams import never, receive, send, simulate, sometimes

CONFIG = AcceleratorConfig(dim=4, scratchpad_kib=1, accumulator_kib=1, store_queue=2)


@dataclass
class _Load:
    """A load, and how many of the stores must have finished before it."""

    fields: dict
    stores: int


def program(seed: int, length: int) -> tuple[list[int | None], list[_Load]]:
    """Stores with their tokens, and loads in between that wait for any of those before them."""
    rng = random.Random(seed)
    stores: list[int | None] = []
    loads: list[_Load] = []
    for tag in range(length):
        stores += rng.choices([None, 0, 3, rng.randrange(TOKENS)], k=rng.choice([0, 1, 1, 3]))
        token = rng.choice([0, 3, rng.randrange(TOKENS)])
        places = [place for place, signal in enumerate(stores) if signal == token]
        count = rng.randint(0, len(places))
        wait = rng.random() < 0.8
        fields = {"wait": wait, "wait_token": token, "wait_count": count, "tag": tag}
        if not wait:
            fields["wait_count"] = rng.getrandbits(32)
        loads.append(_Load(fields, places[count - 1] + 1 if wait and count else 0))
    return stores, loads


async def start(ctx, dut: Tokens, signal: int | None) -> None:
    starting = {"signal": signal is not None, "token": signal or 0}
    ctx.set(dut.starting, starting)
    ctx.set(dut.started, 1)
    await ctx.tick()
    ctx.set(dut.started, 0)


async def finish(ctx, dut: Tokens) -> None:
    ctx.set(dut.done, 1)
    await ctx.tick()
    ctx.set(dut.done, 0)


@pytest.mark.parametrize("seed", range(6))
def test_each_load_passes_when_its_stores_have_finished_and_not_before(seed):
    dut = Tokens(CONFIG)
    stores, loads = program(seed, 60)
    begun = ended = passed = 0

    async def starts(ctx):
        nonlocal begun
        stall = sometimes(seed)
        for signal in stores:
            while begun - ended > 5:
                await ctx.tick()
            await start(ctx, dut, signal)
            begun += 1
            for _ in range(stall()):
                await ctx.tick()

    async def ends(ctx):
        nonlocal ended
        stall = random.Random(seed + 1)
        while ended < len(stores):
            if begun > ended and stall.random() < 0.3:
                await finish(ctx, dut)
                ended += 1
            else:
                await ctx.tick()

    async def sends(ctx):
        await send(ctx, dut.i, [load.fields for load in loads], sometimes(seed + 2))

    async def receives(ctx):
        nonlocal passed
        stall = sometimes(seed + 3)
        for load in loads:
            (got,) = await receive(ctx, dut.o, 1, stall)
            assert got.tag == load.fields["tag"]
            assert ended >= load.stores, "too early"
            passed += 1

    simulate(dut, starts, ends, sends, receives)
    assert passed == len(loads)


def test_a_load_without_a_wait_and_one_that_need_not_wait_cost_nothing():
    dut = Tokens(CONFIG)
    ops = [{"wait": tag % 2, "wait_token": tag, "wait_count": 0, "tag": tag} for tag in range(8)]
    ops.append({"wait": 1, "wait_token": 5, "wait_count": 1, "tag": 8})

    async def testbench(ctx):
        await start(ctx, dut, 5)
        await finish(ctx, dut)
        ctx.set(dut.i.valid, 1)
        ctx.set(dut.o.ready, 1)
        for op in ops:
            ctx.set(dut.i.payload, op)
            assert ctx.get(dut.o.valid)
            assert ctx.get(dut.i.ready)
            assert ctx.get(dut.o.p.tag) == op["tag"]
            await ctx.tick()
            assert not ctx.get(dut.report.waits)

    simulate(dut, testbench)


def test_the_latency_from_the_end_of_a_store_and_what_is_reported_until_then():
    dut = Tokens(CONFIG)

    async def testbench(ctx):
        for _ in range(3):
            await start(ctx, dut, 7)
        ctx.set(dut.i.payload, {"wait": 1, "wait_token": 7, "wait_count": 2})
        ctx.set(dut.i.valid, 1)
        ctx.set(dut.o.ready, 1)
        assert not ctx.get(dut.report.waits)
        for finished in range(2):
            await ctx.tick().repeat(3)
            assert not ctx.get(dut.o.valid)
            assert not ctx.get(dut.i.ready)
            report = {"waits": 1, "token": 7, "count": 2, "finished": finished}
            assert ctx.get(dut.report) == report
            ctx.set(dut.done, 1)
            assert not ctx.get(dut.o.valid)
            await ctx.tick()
            ctx.set(dut.done, 0)
        assert dut.LATENCY == 1
        assert ctx.get(dut.o.valid)
        assert ctx.get(dut.i.ready)
        await ctx.tick()
        assert not ctx.get(dut.report.waits)

    simulate(dut, testbench)


def test_one_store_finishes_per_cycle():
    dut, count = Tokens(CONFIG), 20

    async def testbench(ctx):
        for _ in range(count):
            ctx.set(dut.started, 1)
            ctx.set(dut.starting, {"signal": 1, "token": 2})
            await ctx.tick()
            ctx.set(dut.done, 1)
        ctx.set(dut.started, 0)
        await ctx.tick()
        ctx.set(dut.done, 0)
        ctx.set(dut.i.valid, 1)
        for wanted in (count, count + 1):
            ctx.set(dut.i.payload, {"wait": 1, "wait_token": 2, "wait_count": wanted})
            assert ctx.get(dut.o.valid) == (wanted == count)

    simulate(dut, testbench)


def test_what_is_reported_stays_when_the_offer_is_withdrawn():
    dut = Tokens(CONFIG)

    async def testbench(ctx):
        await start(ctx, dut, 15)
        await finish(ctx, dut)
        ctx.set(dut.i.payload, {"wait": 1, "wait_token": 15, "wait_count": 1 << 31})
        ctx.set(dut.i.valid, 1)
        await ctx.tick().repeat(2)
        ctx.set(dut.i.valid, 0)
        await ctx.tick().repeat(5)
        report = {"waits": 1, "token": 15, "count": 1 << 31, "finished": 1}
        assert ctx.get(dut.report) == report

    simulate(dut, testbench)


def test_clear_makes_all_counters_zero_and_they_count_again():
    dut = Tokens(CONFIG)

    async def passes(ctx, token: int, count: int) -> bool:
        ctx.set(dut.i.payload, {"wait": 1, "wait_token": token, "wait_count": count})
        ctx.set(dut.i.valid, 1)
        valid = bool(ctx.get(dut.o.valid))
        ctx.set(dut.i.valid, 0)
        return valid

    async def testbench(ctx):
        for token in range(TOKENS):
            assert not await passes(ctx, token, 1)
            for _ in range(2):
                await start(ctx, dut, token)
                await finish(ctx, dut)
            assert await passes(ctx, token, 2)
            assert not await passes(ctx, token, 3)
        ctx.set(dut.clear, 1)
        await ctx.tick()
        ctx.set(dut.clear, 0)
        for token in range(TOKENS):
            assert not await passes(ctx, token, 1)
            await start(ctx, dut, token)
            await finish(ctx, dut)
            assert await passes(ctx, token, 1)
            assert not await passes(ctx, token, 2)

    simulate(dut, testbench)


@pytest.mark.parametrize("left", [1, 1 << 31, COUNT_MASK])
def test_what_a_counter_holds_that_no_store_has_added_to_is_neither_counted_nor_reported(left):
    """At power-on that is anything, and behind a clear what was counted before."""
    dut = Tokens(CONFIG)

    async def testbench(ctx):
        for cleared in (False, True):
            for token in range(TOKENS):
                ctx.set(dut.counters.data[token], left)
                ctx.set(dut.i.payload, {"wait": 1, "wait_token": token, "wait_count": 1})
                ctx.set(dut.i.valid, 1)
                await ctx.tick()
                assert not ctx.get(dut.o.valid)
                report = {"waits": 1, "token": token, "count": 1, "finished": 0}
                assert ctx.get(dut.report) == report
                ctx.set(dut.i.valid, 0)
                if not cleared:
                    await start(ctx, dut, token)
                    await finish(ctx, dut)
            ctx.set(dut.clear, 1)
            await ctx.tick()
            ctx.set(dut.clear, 0)

    simulate(dut, testbench)


@pytest.mark.parametrize("bit", range(COUNT_BITS + 1))
def test_counts_are_compared_and_reported_in_all_their_bits(bit):
    """The counter holds a number below a power of two, and one store finishes more."""
    finished = (1 << bit) - 1
    dut = Tokens(CONFIG)

    async def passes(ctx, count: int) -> bool:
        ctx.set(dut.i.payload, {"wait": 1, "wait_token": 9, "wait_count": count})
        ctx.set(dut.i.valid, 1)
        await ctx.tick()
        passed, report = bool(ctx.get(dut.o.valid)), ctx.get(dut.report)
        ctx.set(dut.i.valid, 0)
        if not passed:
            assert (report.count, report.finished) == (count, stored)
        return passed

    async def testbench(ctx):
        nonlocal stored
        await start(ctx, dut, 9)
        await finish(ctx, dut)  # From now on, the counter is known.
        ctx.set(dut.counters.data[9], finished)
        for stored in (finished, (finished + 1) & COUNT_MASK):
            near = {(stored + by) & COUNT_MASK for by in (-1, 0, 1)}
            for count in {*near, 0, 1, 1 << 16, 1 << 31, COUNT_MASK}:
                assert await passes(ctx, count) == (stored >= count)
            await start(ctx, dut, 9)
            await finish(ctx, dut)

    stored = finished
    simulate(dut, testbench)


def test_as_many_stores_as_there_can_be_are_remembered():
    dut = Tokens(CONFIG)
    under_way = CONFIG.store_queue + CONFIG.write_requests + 4
    tokens = [place % TOKENS if place % 3 else None for place in range(under_way)]

    async def testbench(ctx):
        for token in tokens:
            await start(ctx, dut, token)
        for _ in tokens:
            await finish(ctx, dut)
        ctx.set(dut.i.valid, 1)
        for token in range(TOKENS):
            for more in (0, 1):
                count = tokens.count(token) + more
                ctx.set(dut.i.payload, {"wait": 1, "wait_token": token, "wait_count": count})
                assert ctx.get(dut.o.valid) == (not more)

    simulate(dut, testbench)


def test_loads_stream_without_a_bubble():
    dut, count = Tokens(CONFIG), 10

    async def producer(ctx):
        await send(ctx, dut.i, [{"tag": tag} for tag in range(count)], never)

    async def consumer(ctx):
        cycles = 0
        ctx.set(dut.o.ready, 1)
        await ctx.tick().until(dut.o.valid)
        for _ in range(count - 1):
            assert ctx.get(dut.o.valid)
            cycles += 1
            await ctx.tick()
        assert cycles == count - 1

    simulate(dut, producer, consumer)
