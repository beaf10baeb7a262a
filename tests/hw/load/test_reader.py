"""`Reader`: bursts out, beats in, and what they hold."""

import random

import pytest

from celosia.hw.bus.bursts import max_segment_bytes
from celosia.hw.load.reader import Reader
from celosia.isa.config import MAX_REQUEST_BYTES
from celosia.isa.presets import PRESETS
from celosia.isa.registers.errors import Cause
from tests.hw.load.read_memory import ReadMemory, bytes_at
from tests.support.streams import never, receive, send, simulate, sometimes

TINY = PRESETS["tiny"].with_values({"read_requests": 4})
EVERYTHING = {"base": 0, "limit": (1 << 64) - 1}


def segment(address: int, count: int, row: int = 0, **flags) -> dict:
    return {"address": address, "bytes": count, "row": row, "zero": 0, "last": 0} | flags


def random_segments(config, count: int, seed: int) -> list[dict]:
    rng, most = random.Random(seed), max_segment_bytes(config)
    return [
        segment(
            rng.choice([1, 2]) * 4096 + rng.randrange(-200, 50),
            rng.randint(1, most),
            rng.randrange(99),
            zero=rng.random() < 0.2,
            last=rng.getrandbits(1),
        )
        for _ in range(count)
    ]


def runs(config, item: dict) -> list[dict]:
    """The definition: a run for each 64 bytes."""
    starts = range(0, item["bytes"], MAX_REQUEST_BYTES)
    return [
        {
            "offset": (item["address"] + start) % config.bus_bytes,
            "bytes": min(MAX_REQUEST_BYTES, item["bytes"] - start),
            "row": item["row"],
            "zero": item["zero"],
            "first": start == 0,
            "last": start == starts[-1],
            "op_last": item["last"] and start == starts[-1],
        }
        for start in starts
    ]


def beats(config, item: dict) -> list[int]:
    """The data that come for a segment: whole beats, for each 64 bytes of it anew."""
    width, found = config.bus_bytes, []
    for start in range(0, item["bytes"], MAX_REQUEST_BYTES):
        first = item["address"] + start
        last = first + min(MAX_REQUEST_BYTES, item["bytes"] - start) - 1
        for address in range(first // width * width, last + 1, width):
            found.append(int.from_bytes(bytes_at(address, width), "little"))
    return found


def read(config, items: list[dict], memory_options: dict, stalls=(never, never), late: int = 0):
    """Read `items` completely, and compare; no run is accepted in the first `late` cycles."""
    dut = Reader(config)
    memory = ReadMemory(config, dut.port, **memory_options)
    expected_runs = [run for item in items for run in runs(config, item)]
    expected_beats = [beat for item in items if not item["zero"] for beat in beats(config, item)]

    async def producer(ctx):
        ctx.set(dut.limits, EVERYTHING)
        await send(ctx, dut.segments, items, stalls[0])

    async def run_consumer(ctx):
        for _ in range(late):
            await ctx.tick()
        for found, run in zip(
            await receive(ctx, dut.runs, len(expected_runs), stalls[1]), expected_runs, strict=True
        ):
            assert {name: found[name] for name in run} == run

    async def beat_consumer(ctx):
        found = await receive(ctx, dut.beats, len(expected_beats), stalls[1])
        assert [(beat.data, beat.bad) for beat in found] == [(beat, 0) for beat in expected_beats]
        memory.finished = True

    simulate(dut, memory.run, producer, run_consumer, beat_consumer)
    assert memory.most_in_flight <= config.read_requests
    return memory


@pytest.mark.parametrize("bus_bits", [32, 512])
@pytest.mark.parametrize("dim", [4, 32])
def test_runs_and_beats_are_the_segments(bus_bits, dim):
    config = TINY.with_values({"bus_bits": bus_bits, "dim": dim, "accumulator_kib": 64})
    items = [*random_segments(config, 25, seed=dim), segment(4096, 8)]
    read(config, items, {"stall": 0.3, "seed": 1}, (sometimes(2), sometimes(3)))


def test_an_address_leaves_every_cycle_while_there_is_credit():
    config = TINY.with_values({"bus_bits": 512})
    memory = read(config, [segment(4096 + 64 * n, 64) for n in range(20)], {"latency": 2})
    first = Reader.LATENCY
    assert memory.request_cycles[0] == first
    # Four bursts in flight and a round trip of four cycles (offer, latency, beat, credit).
    assert memory.request_cycles[:4] == list(range(first, first + 4))
    assert memory.beat_cycles == [cycle + 2 for cycle in memory.request_cycles]


def test_a_burst_says_whether_too_many_others_held_its_address_back():
    """Four bursts in flight hold back the fifth and sixth, and none that comes after a pause."""
    items = [segment(64 * n, TINY.bus_bytes) for n in range(9)]
    dut, marks = Reader(TINY), []
    memory = ReadMemory(TINY, dut.port, latency=30, pause=5)

    async def producer(ctx):
        ctx.set(dut.limits, EVERYTHING)
        ctx.set(dut.runs.ready, 1)
        for number, item in enumerate(items):
            await send(ctx, dut.segments, [item])
            if number in (5, 6):
                await ctx.tick().repeat(100)

    async def consumer(ctx):
        ctx.set(dut.beats.ready, 1)
        while len(marks) < len(items):
            sampled = await ctx.tick().sample(dut.beats.valid, dut.throttled)
            marks.extend([sampled[3]] * sampled[2])
        memory.finished = True

    simulate(dut, memory.run, producer, consumer)
    assert marks == [0, 0, 0, 0, 1, 1, 0, 0, 0]


def test_a_burst_waits_until_its_run_is_noted():
    zeros = [segment(0, 8, zero=1)] * 2 * TINY.read_requests
    memory = read(TINY, [*zeros, segment(64, 8), segment(96, 8)], {}, late=30)
    assert [address for address, _ in memory.requests] == [64, 96]


def fail(
    items: list[dict], limits: dict, broken=lambda address: False, count: int = 0, gap: int = 0
):
    """Read `items` until the bad beat, after `count` good ones; returns how it ended."""
    dut, end = Reader(TINY), {}
    memory = ReadMemory(TINY, dut.port, latency=9, broken=broken)

    async def producer(ctx):
        ctx.set(dut.limits, limits)
        ctx.set(dut.runs.ready, 1)
        for item in items:
            ctx.set(dut.segments.payload, item)
            ctx.set(dut.segments.valid, 1)
            await ctx.tick()
            ctx.set(dut.segments.valid, 0)
            for _ in range(gap):
                await ctx.tick()

    async def consumer(ctx):
        *good, bad = await receive(ctx, dut.beats, count + 1)
        assert not any(beat.bad for beat in good)
        assert bad.bad
        assert ctx.get(dut.failed)
        ctx.set(dut.beats.ready, 1)
        for _ in range(60):
            await ctx.tick()
        error = ctx.get(dut.error)
        end["error"] = error.cause, error.address
        assert not ctx.get(dut.in_flight)
        end["requests"] = [address for address, _ in memory.requests]
        memory.finished = True

    simulate(dut, memory.run, producer, consumer)
    return end


def test_a_burst_outside_the_limits_becomes_a_bad_beat_after_those_before_it():
    items = [segment(16 * n, 8) for n in range(3)]
    end = fail(items, {"base": 0, "limit": 39 - 1}, count=4)
    assert end == {"error": (Cause.READ_LIMIT, 32), "requests": [0, 16]}


def test_an_error_response_becomes_a_bad_beat_and_comes_first():
    items = [segment(16 * n, 8) for n in range(3)]
    end = fail(items, {"base": 0, "limit": 39 - 1}, lambda address: address == 20, count=3)
    assert end == {"error": (Cause.READ_RESPONSE, 16), "requests": [0, 16]}


def test_after_an_error_response_nothing_is_outside():
    items = [segment(16, 8), segment(40, 8)]
    end = fail(items, {"base": 0, "limit": 39}, lambda address: address == 16, gap=20)
    assert end == {"error": (Cause.READ_RESPONSE, 16), "requests": [16]}


def test_with_stop_an_address_on_offer_stands_and_no_other_follows():
    dut, offers, in_flight = Reader(TINY), [], []

    async def testbench(ctx):
        ctx.set(dut.limits, EVERYTHING)
        ctx.set(dut.segments.payload, segment(64, 8))
        ctx.set(dut.segments.valid, 1)
        for cycle in range(12):
            ctx.set(dut.stop, cycle >= 4)
            ctx.set(dut.port.ar.ready, cycle == 8)
            offers.append(ctx.get(dut.port.ar.valid))
            in_flight.append(ctx.get(dut.in_flight))
            await ctx.tick()

    simulate(dut, testbench)
    assert offers == [0] * 2 + [1] * 7 + [0] * 3
    assert in_flight == [0] * 3 + [1] * 9


def test_pauses_of_a_slow_memory_are_told_from_a_burst_that_has_not_begun():
    gap, silence = 3, 200
    dut = Reader(TINY)
    read = dut.port.r
    items = [segment(0x1000, 2 * TINY.bus_bytes), segment(0x2000, 2 * TINY.bus_bytes)]

    async def testbench(ctx):
        ctx.set(dut.limits, EVERYTHING)
        for ready in (dut.port.ar.ready, dut.runs.ready, dut.beats.ready):
            ctx.set(ready, 1)
        await ctx.tick().repeat(2 * silence)  # Nothing is asked for.
        await send(ctx, dut.segments, items)
        await ctx.tick().repeat(10)
        told = []
        for pause, last in ((0, 0), (gap, 1), (silence, 0), (gap, 1)):
            now = []
            for _ in range(pause):
                now.append(ctx.get(dut.pauses))
                await ctx.tick()
            told.append(sum(now))
            assert now == sorted(now, reverse=True)
            ctx.set(read.p.last, last)
            ctx.set(read.valid, 1)
            await ctx.tick()
            ctx.set(read.valid, 0)
        assert told == [0, gap, gap, gap]
        assert not ctx.get(dut.in_flight)
        assert not ctx.get(dut.pauses)

    simulate(dut, testbench)
