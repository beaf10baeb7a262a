"""Where pieces stand, and when they are loaded."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.isa.presets import PRESETS
from celosia.sw.ir.matmul import MatMul
from celosia.sw.ir.schedule import MatMulSchedule
from celosia.sw.ir.tile import Load, Multiply, TileProgram, verify
from celosia.sw.matmul.order_matmul import order_matmul
from celosia.sw.matmul.place_tiles import MAX_LEAD, place_tiles
from celosia.sw.matmul.schedule_matmul import candidates, schedule_matmul
from tests.sw.strategies import configs, problems

BASE = PRESETS["base"]


def place(
    problem: MatMul, schedule: MatMulSchedule | None = None, config=BASE
) -> tuple[MatMulSchedule, TileProgram]:
    schedule = schedule or schedule_matmul(problem, config)
    blocks = order_matmul(problem, config, schedule)
    return schedule, place_tiles(problem, config, schedule, blocks)


def loads(program: TileProgram, tensor: str) -> list[Load]:
    return [op for op in program.ops if isinstance(op, Load) and op.piece.tensor == tensor]


def bank(load: Load) -> int:
    return load.at // BASE.scratchpad_bank_rows


@given(st.data())
def test_every_candidate_can_be_placed(data):
    """`place_tiles` verifies what it returns."""
    config = data.draw(configs())
    problem = data.draw(problems(min(config.dim, 8)))
    options = list(candidates(problem, config))
    place(problem, data.draw(st.sampled_from(options)), config)


def test_what_is_kept_is_loaded_once():
    schedule, program = place(MatMul(m=128, n=128, k=128, bias=True))
    assert schedule.keep_b
    for tensor, elements in (("a", 128 * 128), ("b", 128 * 128), ("bias", 128)):
        pieces = [load.piece for load in loads(program, tensor)]
        assert sum(piece.rows * piece.cols for piece in pieces) == elements
        assert len(set(pieces)) == len(pieces)


def test_what_is_streamed_is_loaded_for_each_block():
    problem = MatMul(m=512, n=512, k=768)
    schedule, program = place(problem)
    streamed, others = ("b", schedule.rows) if not schedule.keep_b else ("a", schedule.cols)
    moved = sum(load.piece.rows * load.piece.cols for load in loads(program, streamed))
    assert moved == 512 * 768 * len(others)


def test_a_and_b_never_share_a_bank_where_a_tile_of_b_meets_many_rows():
    schedule, program = place(MatMul(m=512, n=256, k=256))
    assert len(schedule.rows) > 1
    assert not {bank(x) for x in loads(program, "a")} & {bank(x) for x in loads(program, "b")}


@pytest.mark.parametrize("m", [16, 64, 512])
def test_pieces_of_a_that_follow_each_other_are_in_different_banks(m):
    _, program = place(MatMul(m=m, n=256, k=512))
    where = [bank(load) for load in loads(program, "a")]
    assert all(one != other for one, other in pairwise(where))


@pytest.mark.parametrize("transposed", [False, True])
def test_a_short_product_finds_a_its_weights_and_their_next_load_in_different_banks(transposed):
    problem = MatMul(m=16, n=512, k=512, b_transposed=transposed)
    _, program = place(problem)
    banks = {load.piece: bank(load) for load in loads(program, "a") + loads(program, "b")}
    products = [op for op in program.ops if isinstance(op, Multiply)]
    assert all(banks[op.a] != banks[op.b] for op in products)
    weights = [banks[op.b] for op in products]
    changes = [one for one, other in pairwise(weights) if one != other]
    assert all(one != other for one, other in pairwise(changes))


def test_loads_stand_ahead_of_their_use_but_not_too_far():
    schedule, program = place(MatMul(m=512, n=512, k=64, b_transposed=True))
    first_use, steps, needed = {}, 0, set()
    for op in program.ops:
        if isinstance(op, Load):
            continue
        if isinstance(op, Multiply):
            first_use.setdefault(op.a, steps)
            first_use.setdefault(op.b, steps)
        steps += 1
    steps, issued = 0, 0
    for op in program.ops:
        if isinstance(op, Load):
            assert first_use[op.piece] <= steps + MAX_LEAD
            issued += 1
        else:
            needed |= {op.a, op.b} if isinstance(op, Multiply) else set()
            assert issued <= len(needed) + schedule.lookahead
            steps += 1


def test_a_piece_is_not_loaded_again_while_an_older_copy_is_in_use():
    """What would be in two places at once: the newer copy would hide the older one."""
    problem = MatMul(m=128, n=16, k=16)
    schedule = next(c for c in candidates(problem, BASE) if len(c.rows) > 4)
    _, program = place(problem, replace(schedule, keep_b=False))
    for index, op in enumerate(program.ops):
        if isinstance(op, Load) and op.piece.tensor == "b":
            later = program.ops[index + 1 :]
            users = [x for x in later if isinstance(x, Load | Multiply)]
            following = next(
                x
                for x in users
                if (x.piece == op.piece if isinstance(x, Load) else x.b == op.piece)
            )
            assert isinstance(following, Multiply)


def test_too_few_slots_are_an_error():
    problem = MatMul(m=64, n=64, k=64)
    schedule = schedule_matmul(problem, BASE)
    small = replace(schedule, b_pool=replace(schedule.b_pool, banks=(2,), slots_per_bank=1))
    with pytest.raises(ValueError, match="schedule: a pool has too few slots"):
        place(problem, replace(small, keep_b=True))


def test_the_result_is_well_formed():
    _, program = place(MatMul(m=33, n=47, k=65, bias=True))
    assert verify(program) is program
