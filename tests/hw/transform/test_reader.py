"""`TransformReader`: rows arrive with their step, however the memories stall."""

import random

import pytest

from celosia.hw.transform.reader import TransformReader
from celosia.isa.presets import PRESETS
from tests.support.streams import send, simulate, sometimes

CONFIG = PRESETS["tiny"]


def packed_row(row: int) -> list[int]:
    """What the scratchpad has in `row`: bytes."""
    return [(7 * row + column) % 256 for column in range(CONFIG.dim)]


def wide_row(row: int) -> list[int]:
    return [1000 * row + column for column in range(CONFIG.dim)]


def halves(row: int) -> list[int]:
    """The int16 in a row of the scratchpad."""
    data = bytes(packed_row(row))
    return [
        int.from_bytes(data[2 * n : 2 * n + 2], "little", signed=True)
        for n in range(CONFIG.dim // 2)
    ]


async def serve(ctx, port, contents, busy) -> None:
    """A memory that refuses while `busy`, and delivers two cycles after a grant."""
    granted = None
    while True:
        ctx.set(port.ready, not busy())
        _, _, valid, ready, row = await ctx.tick().sample(port.valid, port.ready, port.row)
        if granted is not None:
            ctx.set(port.data, contents(granted))
        granted = row if valid and ready else None


@pytest.mark.parametrize("seed", range(3))
def test_every_step_gets_its_rows(seed):
    rng = random.Random(seed)
    steps, expected, biases = [], [], []
    for number in range(40):
        kind = rng.choice(["wide", "staged", "pair", "header"])
        row, staged, before = rng.randrange(60), rng.randrange(200), rng.randrange(200)
        lane = {"shift": number % 32, "biased": kind == "wide"}
        if kind == "wide":
            steps.append({"accumulator": 1, "row": row, "bias_row": row % 8, "lane": lane})
            expected.append((number, wide_row(row)))
            biases.append(row % 8)
        elif kind == "staged":
            steps.append({"scratchpad": 1, "staged": 1, "staged_row": staged, "lane": lane})
            expected.append((number, 2 * halves(staged)))
        elif kind == "header":
            steps.append({"lane": lane})
            expected.append((number, None))
        else:
            lane |= {"biased": 0}
            steps.append({
                "accumulator": 1,
                "row": row,
                "scratchpad": 1,
                "staged_row": before,
                "lane": lane,
            })
            expected.append((number, wide_row(row)))
            steps.append({"scratchpad": 1, "pair": 1, "staged_row": staged, "lane": lane})
            expected.append((number, halves(before) + halves(staged)))
    dut = TransformReader(CONFIG)
    rngs = [random.Random(100 * seed + n) for n in range(3)]
    seen, starts, accepts, biased_rows = [], [], [], []

    async def producer(ctx):
        await send(ctx, dut.steps, steps, sometimes(seed))

    async def watch(ctx):
        cycle = 0
        while len(seen) < len(steps):
            ctx.set(dut.hold, rngs[2].random() < 0.2)
            _, _, accepted, start, step, row, biased, bias = await ctx.tick().sample(
                dut.steps.ready,
                dut.start,
                dut.step.shift,
                dut.row,
                dut.parameters.valid & dut.steps.ready,
                dut.parameters.row,
            )
            if biased:
                biased_rows.append(bias)
            if accepted:
                accepts.append(cycle)
            if start:
                starts.append(cycle)
                seen.append((step, list(row)))
            cycle += 1

    async def only_what_is_wanted(ctx):
        """A row that nobody needs could take the place of another unit's."""
        ports, step = (dut.accumulator, dut.scratchpad, dut.parameters, dut.maximum), dut.steps.p
        needs = (step.accumulator, step.scratchpad, step.lane.biased)
        asks = [port.valid for port in ports]
        while True:
            values = await ctx.tick().sample(dut.steps.valid & ~dut.hold, *asks, *needs)
            wanted, asked, needed = values[2], values[3:7], (*values[7:], 1)
            assert list(asked) == [wanted & need for need in needed]

    async def scratchpad(ctx):
        await serve(ctx, dut.scratchpad, packed_row, lambda: rngs[0].random() < 0.3)

    async def accumulator(ctx):
        await serve(ctx, dut.accumulator, wide_row, lambda: rngs[1].random() < 0.3)

    simulate(dut, producer, watch, background=[only_what_is_wanted, scratchpad, accumulator])
    assert biased_rows == biases
    assert starts == [cycle + TransformReader.LATENCY for cycle in accepts]
    for (shift, row), (number, want) in zip(seen, expected, strict=True):
        assert shift == number % 32
        assert want is None or row == want
