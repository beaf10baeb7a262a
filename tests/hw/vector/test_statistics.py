"""`Statistics`: what is kept, and what is derived in the background."""

import random
from typing import Any

import pytest

from celosia.hw.memory.read_port import LOCAL_READ_LATENCY
from celosia.hw.vector.background import Background
from celosia.hw.vector.statistics import Statistics
from celosia.isa.config import AcceleratorConfig
from celosia.isa.numerics import reciprocal32
from tests.support.streams import simulate

CONFIG = AcceleratorConfig(dim=2, statistics_rows=16)
WORD = (1 << 32) - 1


async def read(ctx, port, slot: int) -> Any:
    """What a port answers."""
    ctx.set(port.valid, 1)
    ctx.set(port.row, slot)
    assert ctx.get(port.ready)
    for _ in range(LOCAL_READ_LATENCY):
        await ctx.tick()
        ctx.set(port.valid, 0)
        ctx.set(port.row, 5)
    return ctx.get(port.data)


async def write_sums(ctx, dut: Statistics, slot: int, total: int, squares: int | None, finish: int):
    sums = {"total": total, "squares": squares or 0}
    squared = squares is not None
    ctx.set(dut.sums_write, {"valid": 1, "squared": squared, "finish": finish, "slot": slot,
                             "sums": sums})  # fmt: skip
    await ctx.tick()
    ctx.set(dut.sums_write.valid, 0)


async def until_idle(ctx, dut: Statistics) -> int:
    """Cycles until nothing is under way."""
    cycles = 0
    while ctx.get(dut.busy):
        await ctx.tick()
        cycles += 1
    return cycles


def test_slots_keep_what_is_written():
    dut, rng = Statistics(CONFIG, memory_seed=3), random.Random(1)
    maxima = [rng.getrandbits(32) - (1 << 31) for _ in range(16)]
    totals = [rng.getrandbits(32) - (1 << 31) for _ in range(16)]
    squares = [rng.getrandbits(48) for _ in range(16)]

    async def bench(ctx):
        for slot in range(16):
            ctx.set(dut.maximum_write, {"valid": 1, "slot": slot, "maximum": maxima[slot]})
            await write_sums(ctx, dut, slot, totals[slot], squares[slot], 0)
            ctx.set(dut.maximum_write.valid, 0)
            assert not ctx.get(dut.busy)
            assert not ctx.get(dut.derived)
        for slot in rng.sample(range(16), 16):
            assert await read(ctx, dut.maximum, slot) == maxima[slot]
            found = await read(ctx, dut.sums, slot)
            assert (found.total, found.squares) == (totals[slot], squares[slot])
        await write_sums(ctx, dut, 3, 5, None, 0)  # Does not count squares: they remain.
        found = await read(ctx, dut.sums, 3)
        assert (found.total, found.squares) == (5, squares[3])

    simulate(dut, bench)


def test_reads_of_each_cycle_are_answered_in_order():
    dut = Statistics(CONFIG)

    async def bench(ctx):
        for slot in range(16):
            ctx.set(dut.maximum_write, {"valid": 1, "slot": slot, "maximum": -slot})
            await ctx.tick()
        ctx.set(dut.maximum_write.valid, 0)
        ctx.set(dut.maximum.valid, 1)
        for cycle in range(16 + LOCAL_READ_LATENCY):
            ctx.set(dut.maximum.row, cycle % 16)
            if cycle >= LOCAL_READ_LATENCY:
                assert ctx.get(dut.maximum.data) == -(cycle - LOCAL_READ_LATENCY)
            await ctx.tick()

    simulate(dut, bench)


def test_what_is_written_can_be_read_in_the_next_cycle():
    dut = Statistics(CONFIG, memory_seed=1)

    async def bench(ctx):
        await write_sums(ctx, dut, 9, -77, 123, 0)
        found = await read(ctx, dut.sums, 9)
        assert (found.total, found.squares) == (-77, 123)

    simulate(dut, bench)


def test_a_finished_row_without_squares():
    dut = Statistics(CONFIG, memory_seed=1)

    async def bench(ctx):
        before = await read(ctx, dut.facts, 7)
        await write_sums(ctx, dut, 7, 604, None, 1)
        assert ctx.get(dut.busy)
        await until_idle(ctx, dut)
        after = await read(ctx, dut.facts, 7)
        assert after.reciprocal == (1 << 32) // 604
        assert after.mean == before.mean

    simulate(dut, bench)


def test_a_finished_row_with_squares():
    dut = Statistics(CONFIG, memory_seed=1)

    async def bench(ctx):
        ctx.set(dut.norm.channels, 3)
        await write_sums(ctx, dut, 0, 6, 26, 1)
        await until_idle(ctx, dut)
        found = await read(ctx, dut.facts, 0)
        assert (found.mean, found.reciprocal) == (2, (1 << 31) // 3)

    simulate(dut, bench)


@pytest.mark.parametrize("squared", [False, True])
def test_all_slots_finish_at_once(squared):
    """The lanes never wait: every slot fits the queue, and rows follow at the documented rate."""
    dut, rng = Statistics(CONFIG, memory_seed=1), random.Random(2)
    totals = [rng.getrandbits(20) for _ in range(16)]
    slots = rng.sample(range(16), 16)

    async def bench(ctx):
        ctx.set(dut.norm.channels, 80)
        for slot in slots:
            squares = totals[slot] ** 2 if squared else None
            await write_sums(ctx, dut, slot, totals[slot], squares, 1)
        rate = Background.SQUARED_CYCLES if squared else Background.CYCLES
        latency = Background.SQUARED_LATENCY if squared else Background.LATENCY
        cycles = 16 + await until_idle(ctx, dut)
        assert cycles <= 15 * rate + latency + 5 + (16 if squared else 0)
        for slot in slots:
            found = await read(ctx, dut.facts, slot)
            if squared:
                assert found.mean == (2 * totals[slot] + 80) // 160
            else:
                assert found.reciprocal == int(reciprocal32(max(totals[slot], 1))) & WORD

    async def watch(ctx):
        rows = 0
        async for _, _, written, derived in ctx.tick().sample(dut.sums_write, dut.derived):
            assert derived <= rows, "derived before there is a row"
            rows += bool(written.valid and written.finish) - derived

    simulate(dut, bench, background=[watch])
