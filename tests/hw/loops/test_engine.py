"""`LoopEngine` against `celosia.isa.operations.loops`."""

import random

import pytest

from celosia.hw.loops.engine import LoopEngine
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import CONFIG_PRODUCTS, FENCE, FLUSH, REPEAT, Command
from tests.support.loops import LoopPrograms, payload
from tests.support.streams import never, receive, send, simulate, sometimes

CONFIG = AcceleratorConfig(dim=4, scratchpad_kib=1, accumulator_kib=1, loop_entries=64)


def run(program, count, in_stall=never, out_stall=never, config=CONFIG):
    """The first `count` commands that come out, and how many more were counted than came in."""
    dut, got, more = LoopEngine(config), [], 0

    async def source(ctx):
        await send(ctx, dut.i, [payload(command) for command in program], in_stall)

    async def sink(ctx):
        for item in await receive(ctx, dut.o, count, out_stall):
            got.append(Command(item.funct, item.rs1, item.rs2))

    async def tally(ctx):
        nonlocal more
        async for _, _, gained, lost in ctx.tick().sample(dut.gained, dut.lost):
            more += gained - lost

    simulate(dut, sink, background=[source, tally], deadline=5_000)
    return got, more


@pytest.mark.parametrize("seed", range(4))
def test_what_comes_out_is_what_the_program_stands_for(seed):
    program, expected = LoopPrograms(CONFIG, random.Random(seed)).short_program(12)
    stalls = (sometimes(seed), sometimes(seed + 9)) if seed else (never, never)
    assert run(program, len(expected), *stalls) == (expected, len(expected) - len(program))


def test_nothing_is_accepted_under_halt():
    dut = LoopEngine(CONFIG)

    async def bench(ctx):
        ctx.set(dut.i.p, payload(FLUSH.encode()))
        ctx.set(dut.i.valid, 1)
        ctx.set(dut.o.ready, 1)
        for halt in (1, 0, 1):
            ctx.set(dut.halt, halt)
            assert ctx.get(dut.i.ready) == ctx.get(dut.o.valid) == 1 - halt
            await ctx.tick()

    simulate(dut, bench)


@pytest.mark.parametrize("lost", [CONFIG_PRODUCTS, REPEAT])
def test_what_leaves_nothing_waits_until_all_fences_are_over(lost):
    """One of them ends in the cycle in which the next one goes out."""
    dut = LoopEngine(CONFIG)
    fence = payload(FENCE.encode())

    async def bench(ctx):
        ctx.set(dut.o.ready, 1)
        await send(ctx, dut.i, [fence])
        ctx.set(dut.fenced, 1)
        await send(ctx, dut.i, [fence])
        ctx.set(dut.fenced, 0)
        await send(ctx, dut.i, [fence])
        fields = {"count": 1, "length": 1} if lost is REPEAT else {}
        await send(ctx, dut.i, [payload(lost.encode(**fields))])
        for ends in (0, 1, 0, 0, 1):
            assert not ctx.get(dut.lost)
            ctx.set(dut.fenced, ends)
            await ctx.tick()
        ctx.set(dut.fenced, 0)
        assert ctx.get(dut.lost)

    simulate(dut, bench)


def test_a_fence_counts_once_however_long_it_waits_to_go_out():
    dut = LoopEngine(CONFIG)

    async def bench(ctx):
        await send(ctx, dut.i, [payload(FENCE.encode())])
        ctx.set(dut.fenced, 1)
        await ctx.tick()
        ctx.set(dut.fenced, 0)
        await ctx.tick()
        await send(ctx, dut.i, [payload(CONFIG_PRODUCTS.encode())])
        assert ctx.get(dut.lost)

    async def sink(ctx):
        await ctx.tick().repeat(3)
        ctx.set(dut.o.ready, 1)

    simulate(dut, bench, background=[sink])


def test_a_body_that_does_not_come_is_told():
    dut = LoopEngine(CONFIG)

    async def bench(ctx):
        ctx.set(dut.o.ready, 1)
        await send(ctx, dut.i, [payload(REPEAT.encode(count=1, length=2))])
        assert ctx.get(dut.starved)
        await send(ctx, dut.i, [payload(FLUSH.encode())])
        assert (ctx.get(dut.missing), ctx.get(dut.starved), ctx.get(dut.busy)) == (1, 1, 1)
        await send(ctx, dut.i, [payload(FLUSH.encode())])
        assert (ctx.get(dut.missing), ctx.get(dut.starved)) == (0, 0)

    simulate(dut, bench)
