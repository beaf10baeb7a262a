"""Predicted cycles and bytes, against counts that are known without the model."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.sw.ir.matmul import MatMul
from celosia.sw.ir.tile import Load, Multiply
from celosia.sw.matmul.cost import predict_matmul, product_cycles
from celosia.sw.matmul.schedule_matmul import candidates, schedule_matmul
from celosia.sw.pipeline import tile_matmul
from tests.sw.strategies import configs, problems

BASE = PRESETS["base"]


def predict(m, n, k, timing=None, config=BASE, **form):
    problem = MatMul(m=m, n=n, k=k, **{"scale": 0.01, "bias": True, **form})
    return predict_matmul(problem, config, schedule_matmul(problem, config, timing), timing)


@given(st.data())
def test_array_cycles_and_bytes_are_those_of_the_tile_program(data):
    config = data.draw(configs())
    problem = data.draw(problems(min(config.dim, 8)))
    schedule = data.draw(st.sampled_from(list(candidates(problem, config))))
    found = predict_matmul(problem, config, schedule)
    ops = tile_matmul(problem, config, schedule).ops
    products = [op for op in ops if isinstance(op, Multiply)]
    assert found.array_cycles == sum(product_cycles(op.rows, config) for op in products)
    pieces = [op.piece for op in ops if isinstance(op, Load)]
    size = {"a": 1, "b": 1, "bias": 4}
    assert found.read_bytes == sum(p.rows * p.cols * size[p.tensor] for p in pieces)
    assert found.write_bytes == problem.m * problem.n * problem.c_bytes
    assert found.cycles >= max(found.array_cycles, found.start_cycles + found.end_cycles)


@pytest.mark.parametrize(
    ("shape", "cycles"),
    # Measured on the RTL in Verilator: latency 40, 16 bytes per cycle.
    [
        ((64, 64, 64), 1355),
        ((128, 128, 128), 8479),
        ((512, 768, 768), 1_179_935),
        ((512, 64, 512), 65_887),
        ((1, 768, 768), 37_340),
        ((20, 384, 384), 11_898),
    ],
)
def test_predictions_are_near_the_rtl(shape, cycles):
    assert predict(*shape).cycles == pytest.approx(cycles, rel=0.05)


def test_transposed_weights_cost_little_more():
    assert predict(512, 512, 64, b_transposed=True).cycles == pytest.approx(65_924, rel=0.01)


def test_memory_sets_the_pace_where_it_is_slow():
    for rate in (2, 4):
        found = predict(64, 768, 768, MemoryTiming(bytes_per_cycle=rate))
        least = found.read_bytes / rate
        assert least < found.cycles < 1.05 * least


def test_latency_is_paid_at_the_ends_only():
    slow, fast = (predict(512, 768, 768, MemoryTiming(latency=x)) for x in (100, 40))
    assert 100 < slow.cycles - fast.cycles < 1000


def test_an_accumulator_of_one_bank_drains_only_beside_products_that_start_sums():
    problem = MatMul(m=256, n=256, k=1024, scale=1.0)
    schedule = schedule_matmul(problem, BASE)
    one_bank = BASE.with_values({"accumulator_banks": 1})
    extra = predict_matmul(problem, one_bank, schedule).cycles
    extra -= predict_matmul(problem, BASE, schedule).cycles
    waits = len(schedule.rows) * len(schedule.cols) - 1
    assert waits * 2 * BASE.dim < extra < waits * 8 * BASE.dim


def test_many_blocks_are_extrapolated():
    problem = MatMul(m=16 * 3000, n=16, k=16, scale=1.0)
    schedule = schedule_matmul(replace(problem, m=16 * 100), BASE)
    long = replace(schedule, rows=schedule.rows[:1] * (problem.m // schedule.rows[0]))
    one, other = (
        predict_matmul(problem, BASE, long),
        predict_matmul(
            replace(problem, m=problem.m // 2),
            BASE,
            replace(long, rows=long.rows[: len(long.rows) // 2]),
        ),
    )
    assert one.cycles == pytest.approx(2 * other.cycles, rel=0.01)
