"""`StoreSegments`: rows in memory, once their bytes are on the way."""

import random

import pytest

from celosia.hw.store.segments import StoreSegments
from celosia.isa.presets import PRESETS
from tests.support.streams import receive, send, simulate, sometimes

CONFIG = PRESETS["tiny"]
POOLING = PRESETS["gemmini4"]


def random_rows(rng: random.Random, pools: bool = False) -> dict:
    rows = {
        "address": rng.choice([rng.getrandbits(64), (1 << 64) - 5, (1 << 32) - 1]),
        "stride": rng.choice([0, 1, rng.getrandbits(32), (1 << 32) - 1]),
        "rows": rng.choice([1, 1, 2, 4]),
        "bytes": rng.randint(1, 64),
        "tag": rng.getrandbits(32),
    }
    if pools:
        rows |= {"pools": rng.getrandbits(1), "cols": rng.randint(1, 3)}
        rows["rows"] = rows["cols"] * rng.randint(1, 3)
        rows["row_stride"] = rng.choice([0, 5, rng.getrandbits(40), (1 << 40) - 1])
    return rows


def expected_segments(rows: dict) -> list[dict]:
    cols = rows["cols"] if rows.get("pools") else rows["rows"]  # Of a line of pixels.
    starts = [(r // cols) * rows.get("row_stride", 0) for r in range(rows["rows"])]
    return [
        {
            "address": (rows["address"] + starts[r] + r % cols * rows["stride"]) % (1 << 64),
            "bytes": rows["bytes"],
            "tag": rows["tag"],
            "last": r == rows["rows"] - 1,
        }
        for r in range(rows["rows"])
    ]


@pytest.mark.parametrize("config", [CONFIG, POOLING])
@pytest.mark.parametrize("seed", range(3))
def test_a_row_is_on_offer_only_when_it_was_read(seed, config):
    rng = random.Random(seed)
    dut, ops = StoreSegments(config), [random_rows(rng, config.convolution) for _ in range(15)]
    expected = [segment for rows in ops for segment in expected_segments(rows)]
    read, accepted = 0, 0

    async def producer(ctx):
        await send(ctx, dut.rows, ops, sometimes(seed))

    async def reader(ctx):
        nonlocal read
        while read < len(expected):
            tell = rng.random() < 0.5
            ctx.set(dut.row_read, tell)
            await ctx.tick()
            read += tell
        ctx.set(dut.row_read, 0)

    async def consumer(ctx):
        nonlocal accepted
        for segment in expected:
            [actual] = await receive(ctx, dut.segments, 1, sometimes(accepted))
            assert {name: actual[name] for name in segment} == segment
            accepted += 1
            assert accepted <= read

    simulate(dut, producer, reader, consumer)


def test_a_row_leaves_in_each_cycle():
    dut, offers = StoreSegments(CONFIG), []
    ops = [random_rows(random.Random(n)) | {"rows": 1 + n % 3} for n in range(6)]
    count = sum(op["rows"] for op in ops)

    async def producer(ctx):
        ctx.set(dut.row_read, 1)
        await ctx.tick().repeat(count)
        ctx.set(dut.row_read, 0)
        await send(ctx, dut.rows, ops)

    async def consumer(ctx):
        ctx.set(dut.segments.ready, 1)
        for cycle in range(2 * count + 5):
            if ctx.get(dut.segments.valid):
                offers.append(cycle)
            await ctx.tick()

    simulate(dut, producer, consumer)
    assert offers == [count + 1 + n for n in range(count)]
