"""`RowWriter`: pieces become rows of the local memories."""

import random

import numpy as np
import pytest

from celosia.hw.decode.ops import Space
from celosia.hw.load.unpack import piece_bytes, pieces_per_row
from celosia.hw.load.writer import RowWriter
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import float_bits
from celosia.isa.numerics import mvin_scale, scale_from_bits
from celosia.isa.presets import PRESETS
from tests.support.reused_simulator import shared_design
from tests.support.streams import never, send, simulate, sometimes

TINY, BASE = PRESETS["tiny"], PRESETS["base"]
CONFIGS = {
    "base": BASE,
    "wide-bus": TINY.with_values({"dim": 2, "bus_bits": 512}),
    "wide-rows": AcceleratorConfig(dim=16, bus_bits=32),
}
HALF = float_bits(0.5)


def info(**fields) -> dict:
    names = (
        "index",
        "row",
        "accumulate",
        "words",
        "scaled",
        "row_last",
        "op_last",
        "zero",
        "fault",
    )
    return dict.fromkeys(names, 0) | {"space": Space.SCRATCHPAD} | fields


def random_row(config: AcceleratorConfig, rng: random.Random) -> tuple[list[dict], dict]:
    """The pieces of a row with some of its elements, and the write that it becomes."""
    space = rng.choice(list(Space))
    words = int(space == Space.PARAMETER or (space == Space.ACCUMULATOR and rng.random() < 0.5))
    dtype = np.dtype("<i4" if words else "i1")
    count = rng.choice([config.dim, rng.randint(1, config.dim)])
    data = rng.randbytes(count * dtype.itemsize)
    zero, scaled = rng.random() < 0.2, not words and rng.random() < 0.5
    row, accumulate, op_last = rng.randrange(32), rng.getrandbits(1), rng.getrandbits(1)

    pieces, size = [], piece_bytes(config)[words]
    for index, start in enumerate(range(0, len(data), size)):
        part = data[start : start + size]
        last = start + size >= len(data)
        common = {"words": words, "scaled": scaled and not zero, "zero": zero, "space": space}
        place = {"index": index, "row": row, "bytes": len(part), "accumulate": accumulate}
        end = {"row_last": last, "op_last": last and op_last}
        value = int.from_bytes(part, "little")
        pieces.append({"data": value, "scale": HALF, "info": info(**common, **place, **end)})

    elements = np.frombuffer(data, dtype)
    if scaled:
        elements = mvin_scale(elements, scale_from_bits(HALF))
    written = {"space": space, "row": row, "done": op_last}
    if space == Space.ACCUMULATOR:
        written["accumulate"] = accumulate
    return pieces, written | {"elements": [0] * count if zero else elements.tolist()}


def write(config: AcceleratorConfig, pieces: list[dict], count: int, stalls, cycles=None) -> list:
    """Send `pieces`; returns the `count` rows that are written."""
    dut, rows = shared_design(RowWriter, config), []
    ports = {
        Space.SCRATCHPAD: dut.scratchpad,
        Space.ACCUMULATOR: dut.accumulator,
        Space.PARAMETER: dut.parameters,
    }

    async def producer(ctx):
        await send(ctx, dut.pieces, pieces, stalls[0])

    async def consumer(ctx):
        cycle, wait, offered = 0, 0, None
        while len(rows) < count:
            for port in (dut.scratchpad, dut.accumulator):
                ctx.set(port.ready, not wait)
            valid = [space for space, port in ports.items() if ctx.get(port.valid)]
            assert len(valid) <= 1
            assert offered is None or valid, "offer withdrawn"
            for space in valid:
                offer = space, ctx.get(ports[space].payload.as_value())
                assert offered in {None, offer}, "offer changed"
                offered = offer
                if ctx.get(ports[space].ready):
                    rows.append(as_dict(ctx, space, ports[space].payload, dut.done))
                    offered, wait = None, stalls[1]() + 1
                    if cycles is not None:
                        cycles.append(cycle)
                else:
                    assert not ctx.get(dut.done)
            wait = max(0, wait - 1)
            await ctx.tick()
            cycle += 1

    simulate(dut, producer, consumer)
    return rows


def as_dict(ctx, space, view, done) -> dict:
    payload = ctx.get(view)
    count = payload.mask.bit_length()
    assert payload.mask == (1 << count) - 1
    elements = list(payload.data)[:count]
    if space == Space.SCRATCHPAD:
        elements = [(element + 128) % 256 - 128 for element in elements]
    found = {"space": space, "row": payload.row, "elements": elements, "done": ctx.get(done)}
    if space == Space.ACCUMULATOR:
        found["accumulate"] = payload.accumulate
    return found


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("seed", range(2))
def test_rows_are_their_pieces_under_backpressure(name, seed):
    config, rng = CONFIGS[name], random.Random(seed)
    rows = [random_row(config, rng) for _ in range(20)]
    pieces = [piece for row, _ in rows for piece in row]
    found = write(config, pieces, len(rows), (sometimes(seed), sometimes(seed + 1)))
    assert found == [written for _, written in rows]


@pytest.mark.parametrize("words", [0, 1])
def test_latency_and_throughput_are_as_documented(words):
    per_row = pieces_per_row(BASE)[words]
    space = Space.ACCUMULATOR if words else Space.SCRATCHPAD
    common = {"words": words, "scaled": 1 - words, "space": space, "bytes": 16}
    row = [
        {"data": 5, "scale": HALF, "info": info(index=n, row_last=n + 1 == per_row, **common)}
        for n in range(per_row)
    ]
    cycles = []
    write(BASE, row * 5, 5, (never, never), cycles)
    first = RowWriter.LATENCY + per_row - 1
    assert cycles == [first + per_row * n for n in range(5)]


def test_a_fault_is_reported_after_the_rows_before_it():
    dut, events = shared_design(RowWriter, BASE), []
    row = {"data": 1, "scale": 0, "info": info(bytes=16, row_last=1)}
    fault = {"data": 0, "scale": 0, "info": info(bytes=16, row_last=1, op_last=1, fault=1)}

    async def producer(ctx):
        await send(ctx, dut.pieces, [row, row, fault])

    async def consumer(ctx):
        for cycle in range(20):
            ctx.set(dut.scratchpad.ready, cycle >= 10)
            _, _, taken, failed, done = await ctx.tick().sample(
                dut.scratchpad.valid & dut.scratchpad.ready, dut.fault, dut.done
            )
            events.extend(["row"] * taken + ["fault"] * failed)
            assert not done

    simulate(dut, producer, consumer)
    assert events == ["row", "row", "fault"]


@pytest.mark.parametrize("ready", [0, 10])
def test_stop_throws_away_all_but_the_row_on_offer(ready):
    """A row that is accepted in the cycle of the stop is the last; a row that is not stands."""
    dut, taken, stop = shared_design(RowWriter, BASE), [], 6

    async def testbench(ctx):
        ctx.set(dut.pieces.payload, {"data": 1, "scale": 0, "info": info(bytes=16, row_last=1)})
        ctx.set(dut.pieces.valid, 1)
        for cycle in range(20):
            ctx.set(dut.stop, cycle >= stop)
            ctx.set(dut.scratchpad.ready, cycle >= ready)
            assert ctx.get(dut.pieces.ready) or cycle < stop
            if ctx.get(dut.scratchpad.valid & dut.scratchpad.ready):
                taken.append(cycle)
            await ctx.tick()

    simulate(dut, testbench)
    assert taken == ([ready] if ready else list(range(RowWriter.LATENCY, stop + 1)))


@pytest.mark.parametrize("seed", range(3))
def test_copies_go_to_the_rows_below_further_to_the_right(seed):
    rng, config = random.Random(seed), PRESETS["gemmini4"]
    dut, pieces, wanted = shared_design(RowWriter, config), [], []
    half = config.scratchpad_rows // 2
    for _ in range(40):
        cols = rng.randint(1, 4)
        copies = rng.randrange(4 // cols)
        row = rng.choice([0, 1, 2, 99, half, half + 1])
        data = rng.randbytes(cols)
        last = rng.random() < 0.5
        fields = {"row": row, "bytes": cols, "row_last": 1, "op_last": last}
        copied = {"copies": copies, "cols": cols}
        value = int.from_bytes(data, "little")
        pieces.append({"data": value, "scale": 0, "info": info(**fields, **copied)})
        for copy in range(min(copies, row % half) + 1):
            lanes = slice(copy * cols, (copy + 1) * cols)
            wanted.append((row - copy, ((1 << cols) - 1) << copy * cols, lanes, list(data)))
    ends = sum(piece["info"]["op_last"] for piece in pieces)
    found, done = [], []

    async def producer(ctx):
        await send(ctx, dut.pieces, pieces, sometimes(seed))

    async def consumer(ctx):
        stall = sometimes(seed + 1)
        while len(found) < len(wanted):
            ctx.set(dut.scratchpad.ready, not stall())
            if ctx.get(dut.scratchpad.valid) and ctx.get(dut.scratchpad.ready):
                write = ctx.get(dut.scratchpad.p)
                found.append((write.row, write.mask, list(write.data)))
                done.append(ctx.get(dut.done))
            await ctx.tick()

    simulate(dut, producer, consumer)
    for (row, mask, lanes, data), (got_row, got_mask, got) in zip(wanted, found, strict=True):
        assert (got_row, got_mask, got[lanes]) == (row, mask, data)
    assert sum(done) == ends
