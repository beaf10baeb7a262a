"""`LoadController`: the segments of loads."""

import random

import pytest

from celosia.hw.bus.bursts import max_segment_bytes
from celosia.hw.decode.ops import Space
from celosia.hw.load.controller import LoadController
from celosia.isa.config import AcceleratorConfig
from celosia.isa.presets import PRESETS
from tests.support.registers import reset_registers
from tests.support.streams import never, receive, send, simulate, sometimes

TINY = PRESETS["tiny"]
CONFIGS = {"tiny": TINY, "dim64": AcceleratorConfig(dim=64)}


def load(**fields) -> dict:
    default = {"address": 0, "stride": 0, "rows": 1, "cols": 0, "space": Space.SCRATCHPAD, "row": 0}
    flags = {"block_stride": 1, "zero": 0, "accumulate": 0, "shrunk": 0, "scale": 0, "tag": 0}
    return default | flags | fields


def words(op: dict) -> bool:
    shrunk = op["space"] == Space.ACCUMULATOR and op["shrunk"]
    return op["space"] != Space.SCRATCHPAD and not shrunk


def segments(config: AcceleratorConfig, op: dict) -> list[dict]:
    """The definition."""
    count = op["cols"] * (4 if words(op) else 1)
    if not op["rows"] or not count:
        return [{"bytes": 0, "zero": 1, "last": 1}]
    most = max_segment_bytes(config) if op["space"] == Space.PARAMETER else count
    found = [
        {
            "address": (op["address"] + r * op["stride"] + start) % (1 << 64),
            "bytes": min(most, count - start),
            "row": op["row"] + r + start // config.accumulator_row_bytes,
            "zero": op["zero"],
            "last": 0,
        }
        for r in range(op["rows"])
        for start in range(0, count, most)
    ]
    found[-1]["last"] = 1
    return found


def random_load(config: AcceleratorConfig, rng: random.Random) -> dict:
    space = rng.choice(list(Space))
    fields = {
        "space": space,
        "rows": rng.choice([0, 1, 2, 5]),
        "cols": rng.choice([0, 1, config.dim, rng.randint(1, config.dim)]),
        "shrunk": rng.getrandbits(1),
        "stride": rng.choice([0, 64, (1 << 64) - 7]),
    }
    if space == Space.PARAMETER:
        fields |= {"rows": 1, "cols": rng.randrange(200), "shrunk": 0}
    numbers = {"row": 50, "block_stride": 99, "scale": 1 << 32, "tag": 1 << 32}
    flags = {"zero": rng.getrandbits(1), "accumulate": rng.getrandbits(1)}
    drawn = {name: rng.randrange(limit) for name, limit in numbers.items()}
    return load(address=rng.getrandbits(64), **drawn, **flags, **fields)


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("seed", range(2))
def test_segments_are_the_rows_under_backpressure(name, seed):
    config, rng = CONFIGS[name], random.Random(seed)
    ops = [random_load(config, rng) for _ in range(30)]
    dut = LoadController(config)
    expected = [segment for op in ops for segment in segments(config, op)]

    async def producer(ctx):
        await send(ctx, dut.op, ops, sometimes(seed))

    async def context_consumer(ctx):
        for op, context in zip(
            ops, await receive(ctx, dut.context, len(ops), sometimes(seed + 1)), strict=True
        ):
            assert context.words == words(op)
            for field in ("space", "block_stride", "accumulate", "scale", "tag"):
                assert context[field] == op[field]

    async def consumer(ctx):
        found = await receive(ctx, dut.segments, len(expected), sometimes(seed + 2))
        for segment, wanted in zip(found, expected, strict=True):
            assert {name: segment[name] for name in wanted} == wanted

    simulate(dut, producer, context_consumer, consumer)


def test_the_longest_load_of_parameters_is_cut_into_whole_segments():
    dut, config = LoadController(TINY), TINY
    op = load(space=Space.PARAMETER, cols=(1 << 20) - 1)

    async def testbench(ctx):
        ctx.set(dut.context.ready, 1)
        await send(ctx, dut.op, [op])
        (first,) = await receive(ctx, dut.segments, 1)
        assert first.bytes == max_segment_bytes(config)
        assert not first.last

    simulate(dut, testbench)


def test_latency_and_throughput_are_as_documented():
    dut, arrivals, accepted = LoadController(TINY), [], []
    ops = [load(rows=rows, cols=4) for rows in (1, 3, 1, 1, 2)]

    async def producer(ctx):
        ctx.set(dut.context.ready, 1)
        await send(ctx, dut.op, ops, never)

    async def consumer(ctx):
        ctx.set(dut.segments.ready, 1)
        for cycle in range(12):
            if ctx.get(dut.segments.valid):
                arrivals.append(cycle)
            _, _, taken = await ctx.tick().sample(dut.op.valid & dut.op.ready)
            if taken:
                accepted.append(cycle)

    simulate(dut, producer, consumer)
    assert accepted == [0, 1, 4, 5, 6]
    assert arrivals == list(range(LoadController.LATENCY, LoadController.LATENCY + 8))


@pytest.mark.parametrize("name", CONFIGS)
def test_a_reset_sets_only_that_nothing_is_on_offer(name):
    """Nobody looks at the rest before it was written."""
    assert {*reset_registers(LoadController(CONFIGS[name]))} == {"valid"}
