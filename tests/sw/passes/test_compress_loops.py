"""Programs with loops: they expand to just what they were made of, and they are short."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import FENCE, MVIN, REPEAT, RING_ENTRY, STRIDE, Command, Funct
from celosia.isa.operations.loops import expand
from celosia.isa.operations.semantics import LOOP_FUNCTS
from celosia.sim.profile.operator_groups import command_operators
from celosia.sw.compiler.passes import Compress, Encode
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.models.cases import (
    attention_case,
    encoder_layer_case,
    matmul_case,
    random_quantized_encoder,
)
from celosia.sw.passes.compress_loops import compress_loops
from celosia.sw.passes.loops.nodes import Bodies, Node, command_node, repeated
from celosia.sw.passes.loops.search import Reach, with_loops
from celosia.sw.reference.encoder import BERT_BASE
from tests.support.levels import CONFIGS, configured

BASE = configured("base")
SMALL_LOOPS = configured("tiny", loop_entries=16)
WORDS = st.one_of(st.integers(0, 3), st.integers(0, (1 << 64) - 1))
KINDS = [Funct.MVIN, Funct.MVOUT, Funct.TRANSFORM, Funct.CONFIG]
FUNCTS = st.sampled_from(KINDS)
COMMANDS = st.builds(Command, FUNCTS, WORDS, WORDS)


@st.composite
def nests(draw: st.DrawFn, depth: int = 3) -> list[Command]:
    """What loops with strides and wraps make, and commands between them."""
    body = draw(st.lists(COMMANDS, min_size=1, max_size=3))
    for _ in range(draw(st.integers(1, depth))):
        strides = {
            name: draw(st.integers(0, 40))
            for name in ("addend1", "addend2")
        } | {f"wrap{n}_{lane}": draw(st.sampled_from([0, 0, 1, 5, 15])) for n in (1, 2)
             for lane in range(3)}  # fmt: skip
        loop = [
            REPEAT.encode(count=draw(st.integers(2, 5)), length=2),
            body[0],
            STRIDE.encode(**strides),
        ]
        body = [command for _, command in expand([*body[1:], *loop], BASE)]
    return body


def expanded(commands: tuple[Command, ...], config: AcceleratorConfig) -> list[Command]:
    return [command for _, command in expand(commands, config)]


def check(commands: list[Command], config: AcceleratorConfig) -> tuple[Command, ...]:
    short = compress_loops(commands, config)
    assert expanded(short, config) == expanded(tuple(commands), config)
    assert len(short) <= len(commands)
    return short


@given(st.lists(nests(), max_size=6), st.sampled_from([BASE, SMALL_LOOPS]))
@settings(max_examples=12, deadline=None)
def test_any_stream_stays_what_it_is(parts, config):
    check([command for part in parts for command in part], config)


@given(st.lists(st.builds(Command, FUNCTS, WORDS, st.integers(0, 1)), max_size=40))
@settings(max_examples=10, deadline=None)
def test_any_commands_stay_what_they_are(commands):
    check(commands * 3, BASE)


def loads(count: int, ring: int) -> list[Command]:
    """From consecutive rows of memory into a ring."""
    return [
        MVIN.encode(dram=64 * n, local=16 * n % ring + 2048, local_cols=16, local_rows=16)
        for n in range(count)
    ]


@pytest.mark.parametrize("ring", [256, 2048])
def test_a_ring_is_one_loop(ring):
    short = check(loads(100, ring), BASE)
    assert [command.funct for command in short] == [Funct.REPEAT, Funct.MVIN, Funct.STRIDE]
    assert REPEAT.decode(short[0])["count"] == 100


def test_loops_in_each_other():
    rows = [
        MVIN.encode(dram=4096 * i + 64 * j, local=16 * j, local_cols=16, local_rows=16)
        for i in range(10)
        for j in range(7)
    ]
    assert len(check(rows, BASE)) == 5


def test_the_last_iteration_may_end_early():
    kinds = [funct for funct in Funct if funct not in LOOP_FUNCTS][:14]
    commands = [Command(funct, n, 0) for n in range(9) for funct in kinds]
    short = check(commands[:-4], BASE)
    assert len(short) == 1 + 2 * len(kinds)
    values = REPEAT.decode(short[0])
    assert (values["count"], values["length"], values["left_out"]) == (9, 2 * len(kinds), 8)


def test_what_begins_something_else_is_no_part_of_a_loop_before():
    """Eight loads, twice as many elsewhere: with the start known, they are one loop of two."""
    commands = [*loads(8, 1 << 12), FENCE.encode(), *loads(8, 1 << 12), FENCE.encode()]
    short = compress_loops(commands, BASE, [9])
    assert expanded(short, BASE) == commands
    assert len(short) <= len(compress_loops(commands, BASE))


def test_bodies_are_as_long_as_the_accelerator_takes():
    period = [Command(Funct.MVIN, 1 << n, 7 * n * n) for n in range(40)]
    short = check(period * 20, configured("base", loop_entries=16))
    lengths = [REPEAT.decode(each)["length"] for each in short if each.funct == Funct.REPEAT]
    assert max(lengths, default=0) <= 16
    assert len(check(period * 20, BASE)) == 41


def test_an_accelerator_without_loops_gets_none():
    config = configured("base", loop_entries=0)
    commands = loads(100, 256)
    assert compress_loops(commands, config) == tuple(commands)


@pytest.mark.parametrize("command", [REPEAT.encode(count=2, length=1), STRIDE.encode()])
def test_loops_are_refused(command):
    with pytest.raises(ValueError, match=r"command 1: .* is part of a loop already"):
        compress_loops([MVIN.encode(), command], BASE)


@pytest.mark.parametrize("config", [CONFIGS["tiny"], CONFIGS["base"]], ids=["tiny", "base"])
@pytest.mark.parametrize(
    "case",
    [matmul_case(20, 40, 70, seed=1), attention_case(3, 20, 10, seed=1)],
    ids=["matmul", "attention"],
)
def test_programs_of_graphs(case, config):
    plain = compile_graph(case.graph, config, Encode(nests=False), Compress(loops=False))
    compiled = compile_graph(case.graph, config)
    commands = expanded(compiled.program, config)
    assert commands == list(plain.program)
    assert command_operators(compiled) == command_operators(plain)
    assert len(command_operators(compiled)) == len(commands)
    assert len(compiled.program) < len(commands)


BERT_LAYER_BYTES = 40 << 10
"""The most that a layer's program may be; without loops it is 192 KiB."""


@pytest.mark.nightly
def test_a_layer_of_bert_is_a_short_program():
    shape = replace(BERT_BASE, layers=2)  # The last layer of a model has no layer behind it.
    case = encoder_layer_case(random_quantized_encoder(shape, 0), [128], 0)
    compiled = compile_graph(case.graph, BASE)
    plain = compile_graph(case.graph, BASE, Encode(nests=False), Compress(loops=False))
    assert expanded(compiled.program, BASE) == list(plain.program)
    assert RING_ENTRY.size * len(compiled.program) <= BERT_LAYER_BYTES


def scattered(count: int) -> list[Command]:
    """Commands that no loop of fewer can make."""
    return [Command(KINDS[n % 4], 7 * n**3 << n % 40, 1 << n % 60) for n in range(count)]


def compressed(commands: list[Command], entries: int) -> tuple[Command, ...]:
    config = configured("base", loop_entries=entries)
    short = compress_loops(commands, config)
    assert [command for _, command in expand(short, config)] == commands
    return short


@pytest.mark.parametrize("count", range(2, 13))
def test_any_number_of_iterations_is_one_loop(count):
    bodies = Bodies(64)
    nodes = [command_node(each, bodies) for each in scattered(9)] * count
    (loop,) = with_loops(nodes, (Reach(longest=9),), bodies)
    assert (loop.count, loop.left_out, loop.cost) == (count, 0, 10)
    assert len(compressed(scattered(9) * count, 64)) == 10


@pytest.mark.parametrize("alone", range(2, 12))
def test_the_last_of_many_may_be_the_first_of_another_loop(alone):
    """So many of one kind, and behind them pairs that begin with that kind: two loops."""
    first, second = Command(Funct.CONFIG, 1, 0), Command(Funct.MVOUT, 2, 0)
    short = check([first] * alone + [first, second] * 3, BASE)
    assert [command.funct for command in short if command.funct != Funct.REPEAT][-2:] == [
        Funct.CONFIG,
        Funct.MVOUT,
    ]
    assert len(short) == 5


@pytest.mark.parametrize("room", [-1, 0, 1])
def test_a_body_may_fill_the_memory_of_loops(room):
    bodies = Bodies(16 + room)
    nodes = [command_node(each, bodies) for each in scattered(16)] * 9
    found = with_loops(nodes, (Reach(longest=16),), bodies)
    assert [(node.count, node.cost) for node in found] == (
        [(9, 17)] if room >= 0 else [(0, 1)] * 144
    )


@pytest.mark.parametrize("steps", [(64, 0), (0, 64), (64, 64), (64, 256), (0, 0)])
def test_a_loop_of_loops_costs_each_command_once_and_its_strides(steps):
    """A command that moves between iterations of a level has a STRIDE for each level up to it."""
    inner, outer = steps
    bodies = Bodies(9)

    def row(start: int) -> Node:
        commands = [Command(Funct.MVIN, start + inner * n, 0) for n in range(5)]
        loop = repeated([[command_node(each, bodies)] for each in commands], bodies)
        assert loop is not None
        return loop

    iterations = [[row(1024 + outer * number)] for number in range(4)]
    body = 2 + (2 if outer != 4 * inner else inner > 0)
    assert iterations[0][0].cost == 2 + (inner > 0)
    bodies.entries = body - 1
    assert repeated(iterations, bodies) is None
    bodies.entries = body
    whole = repeated(iterations, bodies)
    assert whole is not None
    assert whole.cost == 1 + body


def test_loops_that_advance_otherwise_inside_are_not_alike():
    """By 64 and by 128 in turn, each from where the one before ended: a loop of both is found."""
    commands: list[Command] = []
    start = 0
    for step in [64, 128] * 8:
        commands += [Command(Funct.MVIN, start + step * n, 0) for n in range(5)]
        commands.append(FENCE.encode())
        start += 4 * step
    each = ["REPEAT", "MVIN", "STRIDE", "STRIDE", "FENCE"]
    assert len(compressed(commands, 64)) == 1 + 2 * len(each)


def nested(seed: int) -> list[Command]:
    """Up to three loops in each other, with single commands between them."""
    random = Random(seed)
    kinds = KINDS[: random.randint(1, 4)]
    body = [
        Command(random.choice(kinds), random.choice([0, 1 << 60]), 0)
        for _ in range(random.randint(1, 3))
    ]
    for _ in range(random.randint(1, 3)):
        steps = [
            (random.choice([0, 0, 64, 4096, 1 << 40]), random.choice([0, 0, 16, 1 << 20, 1 << 50]))
            for _ in body
        ]
        body = [
            Command(funct, (rs1 + n * one) % 2**64, (rs2 + n * other) % 2**64)
            for n in range(random.randint(2, 9))
            for (funct, rs1, rs2), (one, other) in zip(body, steps, strict=True)
        ]
        body += [Command(random.choice(KINDS), 0, 0)] * random.randint(0, 2)
        if len(body) > 30:
            break
    return body


LENGTHS = {60: 33, 171: 29, 209: 22, 265: 24, 307: 59}


@pytest.mark.parametrize("seed", LENGTHS)
def test_programs_get_no_longer(seed):
    """What was reached once, for streams in which choices between loops matter."""
    assert len(compressed(nested(seed), 64)) <= LENGTHS[seed]


@pytest.mark.parametrize("advancing", [0, 0.5, 0.9])
@pytest.mark.parametrize("count", [2, 61, 120, 240, 241])
def test_up_to_240_commands_twice_are_a_loop_if_that_is_shorter(count, advancing):
    """What goes on elsewhere in its second iteration has a STRIDE behind it."""
    strides = round(count * advancing)
    first = [Command(KINDS[n % 4], 7 * n**3 % 8191 << 16, 1 << n % 60) for n in range(count)]
    second = [each._replace(rs1=each.rs1 + 64 + n) for n, each in enumerate(first[:strides])]
    short = check([*first, *second, *first[strides:]], BASE)
    assert len(short) == (min(2 * count, 1 + count + strides) if count <= 240 else 2 * count)
