"""`BurstSplitter`: bursts are legal, are the segment, and come at the documented rate."""

import random

import pytest

from celosia.hw.bus.bursts import BurstSplitter, max_segment_bytes
from celosia.hw.bus.bus import PAGE_BYTES
from celosia.isa.config import MAX_REQUEST_BYTES, AcceleratorConfig
from celosia.isa.presets import PRESETS
from tests.support.streams import never, receive, send, simulate, sometimes

TINY = PRESETS["tiny"]
CONFIGS = [TINY, TINY.with_values({"dim": 2, "bus_bits": 512}), AcceleratorConfig(dim=64)]
TOP = 1 << 64
EVERYTHING = {"base": 0, "limit": TOP - 1}


def bursts(config: AcceleratorConfig, segment: dict, limits: dict) -> list[dict]:
    """The definition: byte by byte, a new burst at every cut."""
    address, count = segment["address"], segment["bytes"]
    starts = [
        index
        for index in range(count)
        if index % MAX_REQUEST_BYTES == 0 or (address + index) % PAGE_BYTES == 0
    ]
    found = []
    for start, end in zip(starts, [*starts[1:], count], strict=True):
        first, last = address + start, address + end - 1
        chunk = min(MAX_REQUEST_BYTES, count - start)
        fields = {
            "address": first % TOP,
            "bytes": end - start,
            "beats_minus_1": last // config.bus_bytes - first // config.bus_bytes,
            "permitted": last < TOP and limits["base"] <= first and last <= limits["limit"],
            "first": start == 0,
            "last": end == count,
            "chunk_first": start % MAX_REQUEST_BYTES == 0,
        }
        if fields["chunk_first"]:
            fields |= {"chunk_last": start + chunk == count, "chunk_bytes": chunk}
        found.append(fields)
    return found


def segments(config: AcceleratorConfig, count: int, seed: int) -> list[dict]:
    """Random segments, most of them near a page boundary, some of them near the top of memory."""
    rng, most = random.Random(seed), max_segment_bytes(config)
    pages = [0, 1, 5, TOP // PAGE_BYTES]
    return [
        {
            "address": (rng.choice(pages) * PAGE_BYTES + rng.randrange(-300, 100)) % TOP,
            "bytes": rng.choice([1, 63, 64, most, rng.randint(1, most)]),
        }
        for _ in range(count)
    ]


def split(config: AcceleratorConfig, items: list, limits: dict, stalls=(never, never)) -> None:
    dut = BurstSplitter(config)
    expected = [burst for segment in items for burst in bursts(config, segment, limits)]

    async def producer(ctx):
        ctx.set(dut.limits, limits)
        await send(ctx, dut.segments, items, stalls[0])

    async def consumer(ctx):
        found = await receive(ctx, dut.bursts, len(expected), stalls[1])
        for actual, wanted in zip(found, expected, strict=True):
            assert {name: actual[name] for name in wanted} == wanted

    simulate(dut, producer, consumer)


@pytest.mark.parametrize("config", CONFIGS, ids=["tiny", "wide-bus", "dim64"])
@pytest.mark.parametrize("seed", range(3))
def test_bursts_are_the_segment_cut_where_they_must_be(config, seed):
    limits = EVERYTHING if seed == 0 else {"base": PAGE_BYTES - 200, "limit": 5 * PAGE_BYTES - 20}
    stalls = sometimes(seed), sometimes(seed + 1)
    split(config, segments(config, 60, seed), limits, stalls)


def test_both_limits_are_inclusive():
    limits = {"base": 1000, "limit": 1063}
    starts = (999, 1000, 1001)
    items = [{"address": start, "bytes": count} for start in starts for count in (1, 63, 64)]
    split(TINY, items, limits)


def test_a_segment_past_the_top_of_memory_is_outside_from_there_on():
    config = AcceleratorConfig(dim=64)
    split(config, [{"address": TOP - 70, "bytes": 256}, {"address": 0, "bytes": 1}], EVERYTHING)
    split(config, [{"address": TOP - 64, "bytes": 64}], EVERYTHING)


def test_a_segment_of_no_bytes_is_one_empty_burst():
    dut = BurstSplitter(TINY)

    async def producer(ctx):
        await send(ctx, dut.segments, [{"address": 0, "bytes": 0}, {"address": 8, "bytes": 4}])

    async def consumer(ctx):
        empty, other = await receive(ctx, dut.bursts, 2)
        assert (empty.bytes, empty.first, empty.last, empty.chunk_last) == (0, 1, 1, 1)
        assert (other.address, other.bytes) == (8, 4)

    simulate(dut, producer, consumer)


def test_latency_and_throughput_are_as_documented():
    dut, arrivals, count = BurstSplitter(TINY), [], 10

    async def producer(ctx):
        ctx.set(dut.limits, EVERYTHING)
        await send(ctx, dut.segments, [{"address": 64 * n + 3, "bytes": 61} for n in range(count)])

    async def consumer(ctx):
        ctx.set(dut.bursts.ready, 1)
        for cycle in range(BurstSplitter.LATENCY + count + 1):
            if ctx.get(dut.bursts.valid):
                arrivals.append(cycle)
            await ctx.tick()

    simulate(dut, producer, consumer)
    assert arrivals == [BurstSplitter.LATENCY + n for n in range(count)]
