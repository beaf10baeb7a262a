"""`LoopWs` against the commands that `celosia.isa.loop_ws` makes."""

import random

import pytest

from celosia.hw.loops.loop_ws import LoopWs
from celosia.isa.encoding import FENCE, FLUSH, Command
from celosia.isa.encoding.gemmini_loops import LOOP_WS, LOOP_WS_CONFIGS
from celosia.isa.loop_ws import LoopWs as Expansion
from celosia.isa.presets import PRESETS
from tests.support.streams import never, receive, send, simulate, sometimes

CONFIG = PRESETS["gemmini4"]
BOUNDS, ADDRESSES_AB, ADDRESSES_DC, STRIDES_AB, STRIDES_DC = LOOP_WS_CONFIGS


def loop(rng: random.Random, **run: int) -> list[Command]:
    i, j, k = (rng.randint(1, 3) for _ in range(3))
    pads = {f"pad_{name}": rng.randrange(4) for name in "ijk"}

    def address() -> int:
        return rng.choice([0, rng.getrandbits(64), 0x8000_0000])

    flags = {o.name: rng.randrange(1 << o.bits) for o in LOOP_WS.operands}
    flags |= {
        "residual": rng.random() < 0.2,
        "a_half": rng.randrange(3),
        "b_half": rng.randrange(3),
    }
    flags |= {"activation": rng.choice([0, 0, 1, 2, 4, 7])} | run
    commands = [
        BOUNDS.encode(i=i, j=j, k=rng.choice([k, k, k, 0]), **pads),
        ADDRESSES_AB.encode(a=address(), b=address()),
        ADDRESSES_DC.encode(d=address(), c=address()),
        STRIDES_AB.encode(a_stride=rng.getrandbits(20), b_stride=rng.getrandbits(64)),
        STRIDES_DC.encode(d_stride=rng.getrandbits(20), c_stride=rng.getrandbits(32)),
    ]
    return [*rng.sample(commands, rng.choice([5, 5, 2])), LOOP_WS.encode(**flags)]


def check(programs: list[list[Command]], seed: int) -> None:
    commands = [command for program in programs for command in program]
    expansion, dut = Expansion(CONFIG), LoopWs(CONFIG)
    wanted = [made for command in commands for made in expansion.expand(command)]
    tally = {"gained": 0, "lost": 0}

    async def count(ctx):
        while True:
            _, _, gained, lost = await ctx.tick().sample(dut.gained, dut.lost)
            tally["gained"] += gained
            tally["lost"] += lost

    async def producer(ctx):
        await send(ctx, dut.i, [command._asdict() for command in commands], sometimes(seed))

    async def consumer(ctx):
        got = await receive(ctx, dut.o, len(wanted), sometimes(seed + 1))
        for number, (one, other) in enumerate(zip(got, wanted, strict=True)):
            assert (one.funct, one.rs1, one.rs2) == tuple(other), (number, other)
        await ctx.tick().repeat(20)
        assert not ctx.get(dut.busy)
        assert not ctx.get(dut.o.valid)
        assert len(commands) + tally["gained"] - tally["lost"] == len(wanted)

    simulate(dut, producer, consumer, background=[count])


@pytest.mark.parametrize("seed", range(3))
def test_random_loops_become_what_the_contract_says(seed):
    rng = random.Random(seed)
    check([loop(rng) + [FLUSH.encode()] * rng.randrange(2) for _ in range(8)], seed)


@pytest.mark.parametrize("activation", [2, 4])
def test_rows_are_normalized_in_passes(activation):
    rng = random.Random(activation)
    check([loop(rng, activation=activation, residual=0) for _ in range(4)], activation)


def test_halves_take_turns_and_large_results_take_both():
    rng = random.Random(9)
    programs = [loop(rng, a_half=0, b_half=0, residual=0, activation=0) for _ in range(3)]
    large = [BOUNDS.encode(i=12, j=12, k=1), ADDRESSES_DC.encode(c=64)]
    half = BOUNDS.encode(i=8, j=8, k=1)
    assert 8 * 8 * CONFIG.dim == CONFIG.accumulator_rows // 2
    twice = [LOOP_WS.encode()] * 2
    check([*programs, [*large, *twice], [half, *twice]], 1)


def test_latency_and_throughput_are_as_documented():
    rng = random.Random(3)
    expansion, dut = Expansion(CONFIG), LoopWs(CONFIG)
    commands = loop(rng, activation=0, residual=0)
    wanted = [made for command in commands for made in expansion.expand(command)]
    offers = []

    async def testbench(ctx):
        ctx.set(dut.o.ready, 1)
        await send(ctx, dut.i, [command._asdict() for command in commands], never)
        for cycle in range(1, len(wanted) + LoopWs.LATENCY + 2):
            if ctx.get(dut.o.valid):
                offers.append(cycle)
            await ctx.tick()

    simulate(dut, testbench)
    assert offers == [LoopWs.LATENCY + n for n in range(len(wanted))]


def test_nothing_is_lost_while_a_fence_is_not_over():
    dut = LoopWs(CONFIG)

    async def testbench(ctx):
        ctx.set(dut.o.ready, 1)
        ctx.set(dut.fenced, 1)
        await send(ctx, dut.i, [FENCE.encode()._asdict(), BOUNDS.encode()._asdict()])
        for _ in range(5):
            assert not ctx.get(dut.lost)
            assert ctx.get(dut.busy)
            await ctx.tick()
        ctx.set(dut.fenced, 0)
        assert ctx.get(dut.lost)
        await ctx.tick()
        assert not ctx.get(dut.busy)

    simulate(dut, testbench)
