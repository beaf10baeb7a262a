"""The choice of a schedule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.sw.ir.matmul import MatMul
from celosia.sw.matmul.cost import predict_matmul
from celosia.sw.matmul.schedule_matmul import candidates, schedule_matmul
from tests.sw.strategies import configs, problems

BASE = PRESETS["base"]


@given(st.data())
def test_a_schedule_covers_the_product_and_stays_within_the_memories(data):
    config = data.draw(configs())
    problem = data.draw(problems(config.dim))
    for schedule in candidates(problem, config):
        tiles = -(-problem.n // config.dim)
        assert sum(schedule.rows) == problem.m
        assert sum(schedule.cols) == tiles
        assert sum(schedule.tail) in {0, schedule.cols[-1]}
        block_rows = schedule.row_pitch * max(schedule.cols)
        assert 1 <= schedule.places <= config.accumulator_rows // 2 // block_rows
        for pool in (schedule.a_pool, schedule.b_pool):
            end = pool.base + pool.slot_rows * pool.slots_per_bank
            assert end <= config.scratchpad_bank_rows
            assert max(pool.banks) < config.scratchpad_banks
        rows = schedule.row_pitch * schedule.a_tiles
        assert rows <= schedule.a_pool.slot_rows
        assert schedule.b_k_tiles * schedule.b_n_tiles * config.dim <= schedule.b_pool.slot_rows
        assert bool(schedule.bias_slots) == problem.bias
        assert schedule.bias_slots * max(schedule.cols) <= config.parameter_rows


@given(configs())
def test_the_pools_of_a_schedule_are_apart(config):
    schedule = schedule_matmul(MatMul(m=3, n=70, k=70), config)
    a, b = schedule.a_pool, schedule.b_pool
    end = a.base + a.slot_rows * a.slots_per_bank
    assert not set(a.banks) & set(b.banks) or end <= b.base


def test_the_cheapest_is_chosen():
    problem, timing = MatMul(m=200, n=300, k=400), MemoryTiming(bytes_per_cycle=4)
    costs = [predict_matmul(problem, BASE, c, timing).cycles for c in candidates(problem, BASE)]
    chosen = predict_matmul(problem, BASE, schedule_matmul(problem, BASE, timing), timing)
    assert chosen.cycles <= 1.02 * min(costs)
    assert len(costs) > 10


def test_a_slow_memory_makes_for_less_traffic():
    problem = MatMul(m=512, n=768, k=768, scale=1.0)
    slow, fast = (
        predict_matmul(problem, BASE, schedule_matmul(problem, BASE, timing), timing)
        for timing in (MemoryTiming(bytes_per_cycle=2), MemoryTiming())
    )
    assert slow.read_bytes <= fast.read_bytes


@pytest.mark.parametrize(
    ("problem", "text"),
    [
        (
            MatMul(m=128, n=128, k=128, bias=True, scale=1.0),
            "blocks: rows 4 x 32, tiles 8, rows outermost\n"
            "A: pieces of 4 tiles (first 1), streamed, 32 slots of 128 rows in each of banks 0,1\n"
            "B: pieces of 1x4 tiles, kept, 64 slots of 64 rows in each of banks 2,3\n"
            "C: 4 tiles leave together; last block: 7+1\n"
            "places 1, bias slots 1, lookahead 12 loads",
        ),
        (
            MatMul(m=1, n=768, k=768, scale=1.0),
            "blocks: rows 1, tiles 2 x 24, rows outermost\n"
            "A: pieces of 4 tiles (first 4), kept, 4 slots of 4 rows in each of banks 0,1,2,3\n"
            "B: pieces of 1x4 tiles, streamed, 63 slots of 64 rows in each of banks 0,1,2,3\n"
            "C: 4 tiles leave together; last block: at once\n"
            "places 1, bias slots 0, lookahead 12 loads",
        ),
    ],
    ids=["resident", "vector"],
)
def test_the_choice_is_printable_and_stable(problem, text):
    assert str(schedule_matmul(problem, BASE)) == text


def test_an_impossible_problem_is_refused():
    with pytest.raises(ValueError, match="m: 0 is not in"):
        schedule_matmul(MatMul(m=0, n=1, k=1), BASE)
