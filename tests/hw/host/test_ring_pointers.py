"""`RingPointers` asks for every entry once, in order, up to each doorbell's tail."""

import random

import pytest

from celosia.hw.host.ring_pointers import RingPointers
from celosia.hw.lib.layouts import Completed
from celosia.isa.encoding import RING_ENTRY
from celosia.isa.registers.errors import Cause
from celosia.isa.registers.map import BusId
from tests.support.streams import receive, simulate, sometimes


async def ring_doorbell(ctx, dut, tail: int) -> None:
    ctx.set(dut.tail, tail)
    ctx.set(dut.doorbell, 1)
    await ctx.tick()
    ctx.set(dut.doorbell, 0)


async def take(ctx, dut, count: int) -> None:
    for _ in range(count):
        ctx.set(dut.accepted, 1)
        await ctx.tick()
        ctx.set(dut.accepted, 0)


@pytest.mark.parametrize("size", [2, 3, 7, 1 << 31])
def test_runs_follow_the_ring(size):
    dut, rng = RingPointers(), random.Random(size)
    base = (1 << 64) - 24
    total = 60 if size < 100 else 3 * size // 2
    steps = []
    while sum(steps) < total:
        steps.append(rng.randint(1, size - 1))
    entries = []  # First and number of those of each run.

    async def host(ctx):
        ctx.set(dut.base, base)
        ctx.set(dut.size, size)
        ctx.set(dut.enable, 1)
        tail = 0
        for step in steps:
            tail = (tail + step) % size
            await ring_doorbell(ctx, dut, tail)
            for _ in range(rng.randrange(12)):
                await ctx.tick()
            while sum(count for _, count in entries) % size != tail:
                await ctx.tick()

    async def fetcher(ctx):
        stall = sometimes(size)
        while sum(count for _, count in entries) < sum(steps):
            (run,) = await receive(ctx, dut.runs, 1, stall)
            first, rest = divmod(run.address - base, RING_ENTRY.size)
            assert not rest
            entries.append((first, run.entries))

    simulate(dut, host, fetcher)
    expected = 0
    for first, count in entries:
        assert first == expected
        assert count
        assert first + count <= size
        expected = (first + count) % size


def test_the_first_run_comes_when_documented_and_head_follows():
    dut = RingPointers()

    async def testbench(ctx):
        ctx.set(dut.size, 4)
        ctx.set(dut.enable, 1)
        await ring_doorbell(ctx, dut, 3)
        assert ctx.get(dut.pending)
        assert not ctx.get(dut.runs.valid)
        await ctx.tick()
        assert ctx.get(dut.runs.valid)
        for head in range(3):
            assert (ctx.get(dut.head), ctx.get(dut.empty), ctx.get(dut.pending)) == (head, 0, 1)
            await take(ctx, dut, 1)
        assert (ctx.get(dut.head), ctx.get(dut.empty), ctx.get(dut.pending)) == (3, 1, 0)
        await ring_doorbell(ctx, dut, 1)
        await take(ctx, dut, 2)
        assert (ctx.get(dut.head), ctx.get(dut.pending)) == (1, 0)

    simulate(dut, testbench)


def test_a_tail_without_a_doorbell_and_a_ring_that_is_off_mean_nothing():
    dut = RingPointers()

    async def testbench(ctx):
        ctx.set(dut.size, 8)
        ctx.set(dut.enable, 1)
        ctx.set(dut.tail, 3)
        for _ in range(6):
            await ctx.tick()
            assert not ctx.get(dut.pending)
            assert not ctx.get(dut.runs.valid)
            assert not ctx.get(dut.empty)
        ctx.set(dut.enable, 0)
        await ring_doorbell(ctx, dut, 5)
        ctx.set(dut.tail, 6)
        for _ in range(6):
            await ctx.tick()
            assert not ctx.get(dut.pending)
            assert not ctx.get(dut.runs.valid)
        ctx.set(dut.enable, 1)
        await ctx.tick()
        assert ctx.get(dut.pending)
        assert ctx.get(dut.runs.p.entries) == 5

    simulate(dut, testbench)


@pytest.mark.parametrize(("size", "tail"), [(0, 0), (4, 4), (4, 9), (1 << 32, (1 << 32) - 1)])
def test_pointers_out_of_range_are_faults(size, tail):
    dut = RingPointers()
    size &= (1 << 32) - 1

    async def testbench(ctx):
        ctx.set(dut.size, size)
        ctx.set(dut.enable, 1)
        assert not ctx.get(dut.fault.valid)
        await ring_doorbell(ctx, dut, tail)
        assert ctx.get(dut.fault.valid)
        assert ctx.get(dut.pending)  # Not idle before it is recorded.
        assert ctx.get(dut.fault.cause) == Cause.RING_RANGE
        assert ctx.get(dut.fault.id) == BusId.RING
        await ctx.tick()
        assert not ctx.get(dut.fault.valid)
        assert not ctx.get(dut.pending)

    simulate(dut, testbench)


def test_a_head_out_of_range_is_a_fault_until_it_is_cleared():
    dut = RingPointers()

    async def testbench(ctx):
        ctx.set(dut.size, 8)
        ctx.set(dut.enable, 1)
        await ring_doorbell(ctx, dut, 6)
        await take(ctx, dut, 6)
        ctx.set(dut.size, 4)
        await ring_doorbell(ctx, dut, 1)
        assert ctx.get(dut.fault.valid)
        ctx.set(dut.clear, 1)
        await ctx.tick()
        ctx.set(dut.clear, 0)
        assert ctx.get(dut.head) == 1
        await ring_doorbell(ctx, dut, 2)
        assert not ctx.get(dut.fault.valid)

    simulate(dut, testbench)


def test_clear_forgets_what_was_asked_for_but_not_what_ended():
    dut = RingPointers()

    async def testbench(ctx):
        ctx.set(dut.size, 16)
        ctx.set(dut.enable, 1)
        await ring_doorbell(ctx, dut, 9)
        await take(ctx, dut, 2)
        ctx.set(dut.completed.load, 1)
        await ctx.tick()
        ctx.set(dut.completed.load, 0)
        ctx.set(dut.clear, 1)
        await ctx.tick()
        ctx.set(dut.clear, 0)
        assert ctx.get(dut.head) == 9
        assert ctx.get(dut.completions) == 1
        for _ in range(4):
            assert not ctx.get(dut.pending)
            assert not ctx.get(dut.runs.valid)
            await ctx.tick()
        await ring_doorbell(ctx, dut, 11)
        await ctx.tick()
        assert ctx.get(dut.runs.p.address) == 9 * RING_ENTRY.size
        assert ctx.get(dut.runs.p.entries) == 2

    simulate(dut, testbench)


@pytest.mark.parametrize("seed", range(3))
def test_an_entry_that_stands_for_many_commands_counts_once(seed):
    """Never before as many have ended as were gained, and in the end each entry once."""
    dut, rng = RingPointers(), random.Random(seed)

    async def testbench(ctx):
        ctx.set(dut.enable, 1)
        entries, gained, flying = 0, 0, 0
        for cycle in range(400):
            # An entry, or one of the commands that one stands for, goes out, and others end.
            goes, gains = rng.random() < 0.5 and cycle < 350, rng.random() < 0.6
            count = min(flying, rng.choice([0, 0, 1, 2, 3])) if cycle < 390 else min(flying, 6)
            ctx.set(dut.gained, goes and gains)
            ctx.set(
                dut.completed,
                {name: n < count for n, (name, _) in enumerate(Completed())},
            )
            await ctx.tick()
            flying += goes - count
            gained += goes and gains
            entries += goes and not gains
            assert ctx.get(dut.completions) <= entries
        assert flying == 0
        assert gained > entries > 0
        assert ctx.get(dut.completions) == entries
        # A clear forgets those that will not end any more.
        ctx.set(dut.completed, {})
        ctx.set(dut.gained, 1)
        await ctx.tick()
        ctx.set(dut.gained, 0)
        ctx.set(dut.clear, 1)
        await ctx.tick()
        ctx.set(dut.clear, 0)
        ctx.set(dut.completed, {"load": 1})
        await ctx.tick()
        assert ctx.get(dut.completions) == entries + 1

    simulate(dut, testbench)


def test_all_that_ends_in_a_cycle_is_counted():
    dut, rng, count = RingPointers(), random.Random(0), 0

    async def testbench(ctx):
        nonlocal count
        for _ in range(200):
            enable = rng.random() < 0.7
            ended = {name: rng.randrange(2) for name, _ in Completed()}
            ctx.set(dut.enable, enable)
            ctx.set(dut.completed, ended)
            await ctx.tick()
            count += sum(ended.values()) * enable
            assert ctx.get(dut.completions) == count

    simulate(dut, testbench)
