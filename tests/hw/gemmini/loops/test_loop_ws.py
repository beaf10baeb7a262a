"""`LoopWs` against the commands that `celosia.isa.operations.loop_ws` makes."""

import random
from itertools import pairwise, product

import pytest
from amaranth import ResetInserter, Signal
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.hw.gemmini.loops.loop_ws import LoopWs
from celosia.isa.encoding import FENCE, FLUSH, MVIN, MVOUT, Command
from celosia.isa.encoding.gemmini_loops import LOOP_WS, LOOP_WS_CONFIGS
from celosia.isa.operations.loop_ws import LoopWs as Expansion
from celosia.isa.presets import PRESETS
from tests.support.loop_ws import loop
from tests.support.reused_simulator import shared_design
from tests.support.streams import never, receive, send, simulate, sometimes

CONFIG = PRESETS["gemmini4"]
BOUNDS, ADDRESSES_AB, ADDRESSES_DC, STRIDES_AB, STRIDES_DC = LOOP_WS_CONFIGS


def expanded(commands: list[Command], expansion: Expansion | None = None) -> list[Command]:
    expansion = expansion or Expansion(CONFIG)
    made = [made for command in commands for _, made in expansion.expand(command)]
    return [*made, *(made for _, made in expansion.finish())]


def check(programs: list[list[Command]], seed: int) -> None:
    commands = [command for program in programs for command in program]
    dut = shared_design(LoopWs, CONFIG)
    wanted = expanded(commands)
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
        await ctx.tick().repeat(LoopWs.PATIENCE + 40)
        assert not ctx.get(dut.busy)
        assert not ctx.get(dut.o.valid)
        assert len(commands) + tally["gained"] - tally["lost"] == len(wanted)

    simulate(dut, producer, consumer, background=[count])


@pytest.mark.parametrize("seed", range(3))
def test_random_loops_become_what_the_contract_says(seed):
    rng = random.Random(seed)
    check([loop(rng, CONFIG) + [FLUSH.encode()] * (rng.random() < 0.3) for _ in range(8)], seed)


@settings(max_examples=4)
@given(st.integers(0, 1 << 32))
def test_all_fields_at_random(seed):
    rng = random.Random(seed)
    wild = {o.name: rng.getrandbits(o.bits) for o in LOOP_WS.operands}
    pads = {
        f"pad_{name}": rng.getrandbits(16) % (5 if wild["activation"] in (2, 4) else 1 << 16)
        for name in "ijk"
    }
    sizes = {**{name: rng.randrange(3) for name in "ijk"}, rng.choice("ijk"): 17}
    bounds = BOUNDS.encode(**pads, **sizes)
    check([loop(rng, CONFIG), [bounds, LOOP_WS.encode(**wild)], loop(rng, CONFIG)], seed)


@pytest.mark.parametrize("activation", [2, 4])
def test_rows_are_normalized_in_passes(activation):
    rng = random.Random(activation)
    check([loop(rng, CONFIG, activation=activation, residual=0) for _ in range(4)], activation)


def test_halves_take_turns_and_large_results_take_both():
    rng = random.Random(9)
    programs = [loop(rng, CONFIG, a_half=0, b_half=0, residual=0, activation=0) for _ in range(3)]
    large = [BOUNDS.encode(i=12, j=12, k=1), ADDRESSES_DC.encode(c=64)]
    half = BOUNDS.encode(i=8, j=8, k=1)
    assert 8 * 8 * CONFIG.dim == CONFIG.accumulator_rows // 2
    twice = [LOOP_WS.encode()] * 2
    check([*programs, [*large, *twice], [half, *twice]], 1)


def plain_loop(**run: int) -> list[Command]:
    configs = [BOUNDS.encode(i=2, j=3, k=3), ADDRESSES_AB.encode(a=64, b=640)]
    return [*configs, ADDRESSES_DC.encode(c=9000), LOOP_WS.encode(**run)]


def test_loads_come_between_products_of_the_loop_before():
    """Where they use other halves; behind its stores, where they do not."""
    first, *_, last = (command.funct for command in expanded(plain_loop() * 2))
    assert (first, last) == (MVIN.funct, MVOUT.funct)
    for run, between in (({}, True), ({"a_half": 1}, False)):
        functs = [command.funct for command in expanded(plain_loop(**run) * 2)]
        second_load = functs.index(MVIN.funct, 6)
        assert (second_load < functs.index(MVOUT.funct)) == between


@pytest.mark.parametrize("d", [0, 77])
@pytest.mark.parametrize("skips", [{}, {"skip_a": 1}, {"skip_b": 1}])
def test_loads_meet_what_a_held_loop_uses_in_any_half(d, skips):
    """Each choice of halves behind each; C is in one half, or they take turns."""
    rng, programs = random.Random(d), []
    for a, b, next_a, next_b, c in product((1, 2), (1, 2), (1, 2), (1, 2), (0, 9000)):
        sizes = {name: rng.choice([1, 2]) for name in "ijk"}
        held = [BOUNDS.encode(**sizes), ADDRESSES_AB.encode(a=64, b=640), ADDRESSES_DC.encode(c=c)]
        programs += [
            [*held, LOOP_WS.encode(a_half=a, b_half=b)],
            [ADDRESSES_DC.encode(c=9000, d=d)],
            [LOOP_WS.encode(a_half=next_a, b_half=next_b, **skips), FLUSH.encode()],
        ]
    check(programs, 3)


def test_a_store_to_the_scratchpad_is_no_loop():
    run = LOOP_WS.encode()
    refused = run._replace(rs2=1 << 8)
    assert expanded([refused]) == [refused]
    check([plain_loop(), [refused], plain_loop()], 2)


def test_products_go_out_when_no_command_comes():
    """Then the contract's order is that of loops with something between."""
    dut = shared_design(LoopWs, CONFIG)
    apart = expanded([*plain_loop(), FLUSH.encode(), *plain_loop()])
    wanted = [command for command in apart if command != FLUSH.encode()]

    async def producer(ctx):
        commands = [command._asdict() for command in plain_loop()]
        await send(ctx, dut.i, commands, never)
        await ctx.tick().repeat(300)
        await send(ctx, dut.i, commands, never)

    async def consumer(ctx):
        got = await receive(ctx, dut.o, len(wanted), never)
        assert [(one.funct, one.rs1, one.rs2) for one in got] == [tuple(one) for one in wanted]

    simulate(dut, producer, consumer)


def test_latency_and_throughput_are_as_documented():
    """Command after command, but for what is between matrices and between parts."""
    expansion, dut = Expansion(CONFIG), shared_design(LoopWs, CONFIG)
    commands = [*plain_loop(), FLUSH.encode()]
    wanted = expanded(commands, expansion)
    offers = []

    async def testbench(ctx):
        ctx.set(dut.o.ready, 1)
        await send(ctx, dut.i, [command._asdict() for command in commands[:-1]], never)
        ctx.set(dut.i.payload, commands[-1]._asdict())
        ctx.set(dut.i.valid, 1)
        for cycle in range(1, len(wanted) + 30):
            if ctx.get(dut.o.valid):
                offers.append(cycle)
            if ctx.get(dut.i.ready):
                break
            await ctx.tick()

    simulate(dut, testbench)
    assert len(offers) == len(wanted)
    gaps = [late - early - 1 for early, late in pairwise(offers)]
    # A is 2 moves, B 3; products are 36 commands, stores 2.
    assert offers[0] == LoopWs.LATENCY
    assert {number: gap for number, gap in enumerate(gaps) if gap} == {
        1: 1,
        4: 4,
        40: 2,
        42: 2,
    }


def test_nothing_is_lost_while_a_fence_is_not_over():
    dut = shared_design(LoopWs, CONFIG)

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


@pytest.mark.parametrize(("activation", "span"), [(0, 40), (2, 80)])
def test_a_loop_is_whole_though_a_reset_cut_off_the_one_before(activation, span):
    dut, reset = shared_design(LoopWs, CONFIG), Signal()
    program = plain_loop(activation=activation)
    commands = [command._asdict() for command in program]
    wanted, got = expanded(program), []

    async def sink(ctx):
        ctx.set(dut.o.ready, 1)
        async for _, _, valid, command in ctx.tick().sample(dut.o.valid & ~reset, dut.o.payload):
            if valid:
                got.append((command.funct, command.rs1, command.rs2))

    async def testbench(ctx):
        for cycles in range(LoopWs.PATIENCE, LoopWs.PATIENCE + span, 5):
            await send(ctx, dut.i, commands)
            await ctx.tick().repeat(cycles)
            assert ctx.get(dut.busy)
            ctx.set(reset, 1)
            await ctx.tick()
            ctx.set(reset, 0)
            got.clear()
            await send(ctx, dut.i, commands)
            await ctx.tick().until(~dut.busy)
            assert got == [tuple(command) for command in wanted]

    simulate(ResetInserter(reset)(dut), testbench, background=[sink])
