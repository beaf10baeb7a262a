"""Predicted cycles and bytes, against counts that are known without the model."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.sw.ir.matmul import MatMul
from celosia.sw.ir.program import Load, LoadParameters, Products
from celosia.sw.planning.cost import predict_stage, product_cycles
from celosia.sw.planning.decisions.decide import decide, only_product
from celosia.sw.planning.forms.plan import only_stage
from celosia.sw.planning.problems import graph_of
from celosia.sw.planning.search import product_plans
from celosia.sw.scheduling.expansion.expand import expand
from tests.sw.strategies import configs, problems

BASE = PRESETS["base"]


def predict_plan(graph, plan, config, timing=None):
    return predict_stage(only_product(graph), graph, config, only_stage(plan), timing)


def predict(m, n, k, timing=None, config=BASE, **form):
    graph = graph_of("product", MatMul(m=m, n=n, k=k, **{"scale": 0.01, "bias": True, **form}))
    return predict_plan(graph, decide(graph, config, timing), config, timing)


@given(st.data())
def test_array_cycles_and_bytes_are_those_of_the_program(data):
    """A ring of pieces of several sizes now and then loads one again, where columns come first."""
    config = data.draw(configs())
    problem = data.draw(problems(min(config.dim, 8)))
    graph = graph_of("product", problem)
    plans = list(product_plans(only_product(graph), graph, config))
    plan = data.draw(st.sampled_from(plans))
    found = predict_plan(graph, plan, config)
    ops = [written.op for written in expand(plan, graph)]
    nests = [op for op in ops if isinstance(op, Products)]
    least = product_cycles(only_product(graph), graph, config)
    assert found.array_cycles == sum(max(op.rows, least) * op.count for op in nests)
    read = 0
    for op in ops:
        if isinstance(op, Load | LoadParameters):
            size = 4 if isinstance(op, LoadParameters) else 1
            read += op.view.rows * op.view.cols * size
    assert found.read_bytes == read or (
        only_stage(plan).outer == "cols" and found.read_bytes < read
    )
    assert found.cycles >= found.array_cycles


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
    graph = graph_of("product", MatMul(m=256, n=256, k=1024, scale=1.0))
    plan = decide(graph, BASE)
    one_bank = BASE.with_values({"accumulator_banks": 1})
    extra = predict_plan(graph, plan, one_bank).cycles - predict_plan(graph, plan, BASE).cycles
    stage = only_stage(plan)
    waits = len(stage.rows) * len(stage.tiles) - 1
    assert waits * 2 * BASE.dim < extra < waits * 8 * BASE.dim


def test_many_blocks_are_extrapolated():
    long, half = (
        graph_of("product", MatMul(m=16 * count, n=16, k=16, scale=1.0)) for count in (3000, 1500)
    )
    stage = only_stage(decide(graph_of("product", MatMul(m=1600, n=16, k=16, scale=1.0)), BASE))
    one, other = (
        predict_stage(only_product(graph), graph, BASE, replace(stage, rows=stage.rows[:1] * count))
        for graph, count in ((long, 48_000 // stage.rows[0]), (half, 24_000 // stage.rows[0]))
    )
    assert one.cycles == pytest.approx(2 * other.cycles, rel=0.01)


def test_a_transposed_tile_passes_the_transposer_before_the_first_product():
    """One tile of bytes, which moves alike both ways; it takes as many cycles as it has lines."""
    for config in (BASE, PRESETS["tiny"]):
        size = (config.dim,) * 3
        turned, plain = (
            predict(*size, config=config, b_transposed=turns).cycles for turns in (True, False)
        )
        assert turned - plain == config.dim
