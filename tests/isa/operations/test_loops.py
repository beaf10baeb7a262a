"""What loops stand for, against expansions by hand."""

import random
from dataclasses import replace

import pytest

from celosia.isa.encoding import (
    COMPUTE_PRELOADED,
    CONFIG_PRODUCTS,
    FENCE,
    MVIN,
    PRELOAD,
    PRODUCTS,
    REPEAT,
    STRIDE,
)
from celosia.isa.encoding.gemmini_loops import LOOP_WS
from celosia.isa.operations.loops import (
    MAX_LOOP_DEPTH,
    LoopState,
    advance,
    expand,
    missing_commands,
    unroll,
)
from celosia.isa.operations.product_nest import ProductNest
from celosia.isa.presets import resolve_config

CONFIG = resolve_config("tiny")
ONES = (1 << 48) - 1


def commands(program, config=CONFIG):
    return [command for _, command in expand(program, config)]


@pytest.mark.parametrize("seed", range(20))
def test_an_addend_without_wraps_is_added(seed):
    rng = random.Random(seed)
    operand, addend = rng.getrandbits(64), rng.randrange(-(1 << 47), 1 << 47)
    assert advance(operand, addend & ONES, (0, 0, 0)) == (operand + addend) % (1 << 64)


def test_lanes_wrap_by_themselves():
    assert advance(0x1234_0000_000F_FFFF, 1, (4, 0, 0)) == 0x1234_0000_000F_FFF0
    assert advance(0x0000_0000_0007_0003, 0x0001_0002, (0, 3, 0)) == 5
    assert advance(0xFFFF_FFFF_FFFF_FFFF, 1, (0, 0, 0)) == 0


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("lane", range(3))
def test_a_lane_that_wraps_parts_the_operand(lane, seed):
    """What is below it and what is above it are integers that are added by themselves.

    It takes the carry from below and hands on none; above the addend its sign goes on.
    """
    rng = random.Random(100 * lane + seed)
    low, bits = 16 * lane, rng.randint(1, 16)
    operand, addend = rng.getrandbits(64), rng.randrange(-(1 << 47), 1 << 47)
    below = (operand % (1 << low)) + (addend % (1 << low))
    word, step = (operand >> low) % (1 << 16), (addend >> low) % (1 << 16)
    wrapped = word - word % (1 << bits) + (word + step + (below >> low)) % (1 << bits)
    above = (operand >> low + 16) + (addend >> low + 16)
    wanted = below % (1 << low) | wrapped << low | above << low + 16
    wraps = tuple(bits if each == lane else 0 for each in range(3))
    assert advance(operand, addend & ONES, wraps) == wanted % (1 << 64)


def test_loops_in_loops():
    """Addresses of rows and columns of tiles; the last stride is for the outer loop."""
    load = MVIN.encode(dram=1000, local=0)
    inner = [REPEAT.encode(count=3, length=3), load]
    inner += [STRIDE.encode(addend1=10, addend2=1), STRIDE.encode(addend1=80, addend2=1)]
    program = [REPEAT.encode(count=2, length=5), *inner, FENCE.encode()]
    found = commands(program)
    assert [each.rs1 for each in found if each.funct == MVIN.funct] == [
        *(1000, 1010, 1020),
        *(1100, 1110, 1120),
    ]
    assert [each.rs2 for each in found if each.funct == MVIN.funct] == list(range(6))
    assert [each.funct for each in found].index(FENCE.funct) == 3
    assert [index for index, _ in expand(program, CONFIG)] == [2, 2, 2, 5, 2, 2, 2, 5]


def test_the_last_iteration_leaves_commands_out():
    """What it leaves out advances as often as it is issued, then by the loop around."""
    load, other = MVIN.encode(dram=1000), PRELOAD.encode(b=5)
    by = STRIDE.encode(addend1=10), STRIDE.encode(addend1=80)
    inner = [REPEAT.encode(count=3, length=6, left_out=3), load, *by, other, *by]
    found = commands([REPEAT.encode(count=2, length=7), *inner])
    assert [each.rs1 - load.rs1 for each in found if each.funct == MVIN.funct] == [
        *(0, 10, 20),
        *(100, 110, 120),
    ]
    assert [each.rs1 - other.rs1 for each in found if each.funct == PRELOAD.funct] == [
        *(0, 10),
        *(90, 100),
    ]
    assert [each.funct for each in found[:6]] == [MVIN.funct, PRELOAD.funct] * 2 + [MVIN.funct] * 2


@pytest.mark.parametrize("values", [{"count": 1, "left_out": 1}, {"count": 2, "left_out": 2}])
def test_a_repeat_issues_each_command(values):
    """Else it is at fault, and comes out."""
    repeat = REPEAT.encode(length=2, **values)
    assert commands([repeat, FENCE.encode(), FENCE.encode()])[0] == repeat
    assert missing_commands([repeat], CONFIG) == (0, 0)


def nest(depth, body):
    """Loops of two turns in each other, around `body`."""
    for _ in range(depth):
        body = [REPEAT.encode(count=2, length=len(body)), *body]
    return body


def test_as_many_loops_may_be_in_each_other_as_the_hardware_has():
    assert commands(nest(MAX_LOOP_DEPTH, [FENCE.encode()])) == [FENCE.encode()] * 2**MAX_LOOP_DEPTH
    deeper = nest(MAX_LOOP_DEPTH + 1, [FENCE.encode()])
    assert commands(deeper) == [deeper[MAX_LOOP_DEPTH]]


def test_a_loop_may_not_leave_the_one_around_it():
    """It comes out in the first turn, before anything of it."""
    fence, inner = FENCE.encode(), REPEAT.encode(count=2, length=2)
    program = [REPEAT.encode(count=2, length=3), fence, inner, fence, fence]
    assert commands(program)[:2] == [fence, inner]


def test_products_in_the_order_of_columns_pieces_and_k():
    strides = CONFIG_PRODUCTS.encode(a_k=4, a_piece=100, w_k=8, w_piece=50, w_column=20, c_column=9)
    product = PRODUCTS.encode(
        a=1, w=2, c=3, rows=5, k=2, pieces=2, columns=2, last_depth=3, last_cols=1, overwrite=1
    )
    found = commands([strides, product])
    preloads = [PRELOAD.decode(each) for each in found if each.funct == PRELOAD.funct]
    computes = [COMPUTE_PRELOADED.decode(each) for each in found if each.funct != PRELOAD.funct]
    assert [each["b"] for each in preloads] == [2, 10, 52, 60, 22, 30, 72, 80]
    assert [each["a"] for each in computes] == [1, 5, 101, 105] * 2
    assert [each["c"] & 0xFFFF for each in preloads] == [3] * 4 + [12] * 4
    assert [each["c"] >> 30 for each in preloads] == [2, 3, 3, 3] * 2
    assert [each["b_rows"] for each in preloads] == [4, 4, 4, 3] * 2
    assert [each["c_cols"] for each in preloads] == [4] * 4 + [1] * 4
    # What is set stays, from one program to the next.
    state = LoopState()
    list(expand([strides], CONFIG, state))
    assert [command for _, command in expand([product], CONFIG, state)] == found


def test_missing_commands():
    loop = [REPEAT.encode(count=2, length=3), FENCE.encode()]
    assert missing_commands([*loop, *[FENCE.encode()] * 2], CONFIG) == (0, 0)
    assert missing_commands([FENCE.encode(), *loop], CONFIG) == (2, 1)
    assert missing_commands([*loop, FENCE.encode()], CONFIG) == (1, 0)
    assert missing_commands(loop, resolve_config("tiny", ["loop_entries=0"])) == (0, 0)


def test_a_body_that_ends_with_the_program_lacks_nothing():
    repeat = REPEAT.encode(count=2, length=2)
    assert missing_commands([FENCE.encode(), repeat, *[FENCE.encode()] * 2], CONFIG) == (0, 0)
    assert missing_commands([FENCE.encode(), repeat, FENCE.encode()], CONFIG) == (1, 1)


@pytest.mark.parametrize("length", [1, 15, 16, 17])
@pytest.mark.parametrize("lacking", [0, 1])
def test_only_bodies_that_the_hardware_holds_can_lack_commands(length, lacking):
    """16 entries hold 16 commands; a longer body is at fault, and what follows it is no part."""
    config = resolve_config("tiny", ["loop_entries=16"])
    body = [FENCE.encode()] * (length - lacking)
    program = [FENCE.encode(), REPEAT.encode(count=2, length=length), *body]
    held = length <= 16
    assert missing_commands(program, config) == ((lacking, 1) if held and lacking else (0, 0))
    # It is expanded exactly if nothing is missing.
    repeated = [FENCE.encode()] * (1 + 2 * length)
    assert (commands(program, config) == repeated) == (held and not lacking)


def test_where_loop_ws_is_not_built_products_stay_in_one_piece():
    """And its commands come out, for the rules to refuse."""
    values = {"rows": 2, "k": 2, "pieces": 1, "columns": 2, "last_depth": 3, "last_cols": 2}
    products, strides = PRODUCTS.encode(**values), CONFIG_PRODUCTS.encode()
    loop_ws = LOOP_WS.encode()
    state, nest = LoopState(), ProductNest.decode(products, strides, CONFIG.dim)
    assert nest is not None
    found = unroll([strides, products, loop_ws], CONFIG, state)
    assert list(found) == [(1, nest), (2, loop_ws)]
    assert state.loop_ws is None


def test_loops_of_products_are_commands_to_loop_ws():
    with_loop_ws = replace(CONFIG, loop_ws=True)
    program = [
        CONFIG_PRODUCTS.encode(),
        PRODUCTS.encode(rows=2, k=2, pieces=1, columns=2, last_depth=3, last_cols=2),
        FENCE.encode(),
    ]
    wanted = list(expand(program, CONFIG))
    assert list(unroll(program, with_loop_ws)) == wanted
    assert len(wanted) > len(program)
