"""`Repeater`: what comes out, and when."""

import random
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from celosia.hw.loops.repeat import Repeater
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import FENCE, MVIN, PRELOAD, REPEAT, STRIDE, Command
from celosia.isa.operations.loops import MAX_LOOP_DEPTH, expand
from tests.support.loops import LoopPrograms, payload
from tests.support.registers import reset_registers
from tests.support.reused_simulator import shared_design
from tests.support.streams import receive, send, simulate, sometimes

CONFIG = AcceleratorConfig(dim=4, scratchpad_kib=1, accumulator_kib=1, loop_entries=16)
LOAD = MVIN.encode(dram=0x8000_0000, local_rows=3, local_cols=4)
OTHER = PRELOAD.encode(b=5, b_cols=4, b_rows=4)
BY_16 = STRIDE.encode(addend1=16, addend2=1)


def expected(program, config=CONFIG):
    return [command for _, command in expand(program, config)]


def timed(program, count):
    """The cycles in which commands of `program` come in, and in which they go out."""
    dut, come, go = shared_design(Repeater, CONFIG), [], []

    async def source(ctx):
        await send(ctx, dut.i, [payload(command) for command in program])

    async def watch(ctx):
        ctx.set(dut.o.ready, 1)
        cycle = 0
        while len(go) < count:
            _, _, i_valid, i_ready, o_valid, item = await ctx.tick().sample(
                dut.i.valid, dut.i.ready, dut.o.valid, dut.o.payload
            )
            come.extend([cycle] * (i_valid & i_ready))
            if o_valid:
                go.append((cycle, Command(item.funct, item.rs1, item.rs2)))
            cycle += 1

    simulate(dut, watch, background=[source])
    assert [command for _, command in go] == expected(program)
    return come, [cycle for cycle, _ in go]


def test_others_pass_in_the_same_cycle():
    never = REPEAT.encode(count=0, length=2)
    program = [LOAD, OTHER, FENCE.encode(), BY_16, REPEAT.encode(), LOAD, never, LOAD, OTHER]
    come, go = timed(program, len(program))
    assert come == go == list(range(len(program)))


@pytest.mark.parametrize("strides", [0, 1, 2])
def test_latency_and_time_of_each_command(strides):
    """Two loops around one command, so that there may be two STRIDEs."""
    inner = [REPEAT.encode(count=3, length=1 + strides), LOAD, *[BY_16] * strides]
    program = [REPEAT.encode(count=2, length=len(inner)), *inner]
    come, go = timed(program, 6)
    assert come == [0, *range(2, len(program) + 1)]
    assert go[0] == come[-1] + Repeater.LATENCY + Repeater.ENTER
    each = Repeater.ISSUE + strides + 1
    around = each + 1 + Repeater.ENTER
    assert [later - earlier for earlier, later in pairwise(go)] == [
        each, each, around, each, each
    ]  # fmt: skip


def test_commands_of_a_body_follow_each_other():
    program = [REPEAT.encode(count=2, length=4), LOAD, OTHER, LOAD, BY_16]
    _, go = timed(program, 6)
    assert go[1] - go[0] == go[2] - go[1] == Repeater.ISSUE
    assert go[3] - go[2] == Repeater.ISSUE + 2  # Its STRIDE, and the loop begins again.
    assert Repeater.ISSUE + MAX_LOOP_DEPTH - 1 <= 6


def test_the_trace_of_the_docstring():
    program = [REPEAT.encode(count=2, length=3), OTHER, LOAD, BY_16]
    come, go = timed(program, 4)
    assert [cycle - come[-1] for cycle in go] == [3, 6, 11, 14]


def test_the_last_iteration_ends_early():
    """It costs nothing more than if it did not."""
    body = [LOAD, BY_16, OTHER, BY_16]
    whole = [REPEAT.encode(count=3, length=4), *body]
    part = [REPEAT.encode(count=3, length=4, left_out=2), *body]
    (_, one), (_, other) = timed(whole, 6), timed(part, 5)
    assert other == one[:5]


def test_what_follows_a_loop_that_ends_early():
    """An inner loop in each part, and what is left out last advances by the outer loop."""
    inner = [REPEAT.encode(count=2, length=5, left_out=2), LOAD, BY_16, BY_16, OTHER, BY_16]
    program = [REPEAT.encode(count=2, length=13, left_out=6), *inner, OTHER, *inner]
    timed(program, 3 + 1 + 3 + 3 + 1)


def test_a_body_as_large_as_the_memory():
    body = [LOAD, BY_16] * (CONFIG.loop_entries // 2)
    program = [REPEAT.encode(count=3, length=len(body)), *body, OTHER]
    timed(program, 3 * len(body) // 2 + 1)


def test_a_command_that_ends_a_loop_is_the_last_one_of_it():
    """What is not well formed goes out, and then commands pass again."""
    program = [
        REPEAT.encode(count=2, length=3),
        LOAD,
        REPEAT.encode(count=1, length=2),
        LOAD,
        OTHER,
    ]
    timed(program, 3)


@pytest.mark.parametrize("depth", [1, 2, MAX_LOOP_DEPTH])
def test_a_stride_for_no_loop_is_the_last_one(depth):
    body = [LOAD, *[BY_16] * (depth + 1)]
    for _ in range(depth):
        body = [REPEAT.encode(count=2, length=len(body)), *body]
    timed([*body, OTHER], 3)


@pytest.mark.parametrize("seed", range(4))
def test_random_programs_under_stalls(seed):
    config = AcceleratorConfig(dim=4, scratchpad_kib=1, accumulator_kib=1, loop_entries=64)
    # Some end loops with what is at fault: behind it, all goes on as if nothing had been.
    faults = 0.15 * (seed % 2)
    programs = LoopPrograms(config, random.Random(seed), faults=faults, products=False)
    program, wanted = programs.short_program(10)
    dut, got = shared_design(Repeater, config), []
    counts, count = counted(dut)

    async def source(ctx):
        await send(ctx, dut.i, [payload(each) for each in program], sometimes(seed))

    async def sink(ctx):
        for item in await receive(ctx, dut.o, len(wanted), sometimes(seed + 1)):
            got.append(Command(item.funct, item.rs1, item.rs2))

    simulate(dut, sink, background=[source, count])
    assert got == wanted
    if not faults:
        assert len(wanted) == len(program) + counts["gained"] - counts["lost"]


@settings(max_examples=6)
@given(
    st.lists(st.lists(st.integers(1, 3), min_size=1, max_size=MAX_LOOP_DEPTH), max_size=2),
    st.sampled_from([0, 1, 2]),
)
@example([[2] * MAX_LOOP_DEPTH, [2] * MAX_LOOP_DEPTH], 2)
@example([[1, 3, 2, 2], [3, 2]], 0)
def test_the_tally_after_nests_of_all_depths(nests, around):
    """One nest behind the other, with commands in front of and behind each inner loop."""
    program = [OTHER]
    for counts in nests:
        body = [LOAD, *[BY_16] * len(counts)]
        for level, count in enumerate(counts):
            other = [OTHER] * (around if level else 0)
            body = [*other[:1], *body, *other[1:]]
            body = [REPEAT.encode(count=count, length=len(body)), *body]
        program += body
    config = AcceleratorConfig(dim=4, scratchpad_kib=1, accumulator_kib=1, loop_entries=64)
    dut, wanted = shared_design(Repeater, config), expected(program, config)
    tally, count = counted(dut)

    async def source(ctx):
        await send(ctx, dut.i, [payload(each) for each in program])

    async def sink(ctx):
        await receive(ctx, dut.o, len(wanted))
        await ctx.tick().until(~dut.busy)

    simulate(dut, sink, background=[source, count])
    assert len(wanted) == len(program) + tally["gained"] - tally["lost"]


def test_counts_of_what_is_gained_and_lost():
    """In all, as many commands go out as come in, and are gained, and are not lost."""
    inner = [REPEAT.encode(count=3, length=2), LOAD, BY_16]
    program = [FENCE.encode(), REPEAT.encode(count=2, length=4), OTHER, *inner, OTHER]
    dut, wanted = shared_design(Repeater, CONFIG), expected(program)
    counts, count = counted(dut)

    async def source(ctx):
        await send(ctx, dut.i, [payload(each) for each in program])

    async def sink(ctx):
        await receive(ctx, dut.o, 1)
        ctx.set(dut.fenced, 1)
        ctx.set(dut.o.ready, 1)
        for _ in range(9):
            await ctx.tick()
            assert not ctx.get(dut.o.valid)
        assert counts == {"gained": 0, "lost": 0}, "entries behind a FENCE were counted before it"
        ctx.set(dut.fenced, 0)
        ctx.set(dut.o.ready, 0)
        await receive(ctx, dut.o, len(wanted) - 1, lambda: 7)  # Every offer has to wait.

    simulate(dut, sink, background=[source, count])
    assert len(wanted) == len(program) + counts["gained"] - counts["lost"]
    assert counts["lost"] == 3


def test_what_a_fault_has_ended_does_not_count_in_the_next_loop():
    inner = [REPEAT.encode(count=3, length=3), LOAD, BY_16, REPEAT.encode()]
    ended = [REPEAT.encode(count=5, length=1 + len(inner)), OTHER, *inner]
    program = [REPEAT.encode(count=2, length=2), LOAD, BY_16, OTHER]
    dut, wanted = shared_design(Repeater, CONFIG), expected(program)
    counts, count = counted(dut)

    async def bench(ctx):
        ctx.set(dut.o.ready, 1)
        await send(ctx, dut.i, [payload(each) for each in ended])
        await ctx.tick().until(dut.o.valid & (dut.o.p.funct == REPEAT.funct))
        await ctx.tick().repeat(2)
        assert not ctx.get(dut.busy)
        counts.update(gained=0, lost=0)
        await send(ctx, dut.i, [payload(each) for each in program])

    simulate(dut, bench, background=[count])
    assert len(wanted) == len(program) + counts["gained"] - counts["lost"]


def counted(dut):
    """What is gained and lost, and the testbench that counts it."""
    counts = {"gained": 0, "lost": 0}

    async def count(ctx):
        async for _, _, gained, lost in ctx.tick().sample(dut.gained, dut.lost):
            counts["gained"] += gained
            counts["lost"] += lost

    return counts, count


def test_a_reset_sets_only_that_no_body_comes():
    """Nobody looks at the rest before it was written."""
    assert {*reset_registers(Repeater(CONFIG))} == {"fsm_state", "missing"}
