"""The plans of a product that are compared, and which of them is taken."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.sw.ir.matmul import MatMul
from celosia.sw.planning.cost import predict_stage
from celosia.sw.planning.decisions.decide import decide, only_product
from celosia.sw.planning.forms.plan import only_stage
from celosia.sw.planning.problems import graph_of
from celosia.sw.planning.rules.verify import verify_plan
from celosia.sw.planning.search import product_plans
from tests.sw.strategies import configs, problems

BASE = PRESETS["base"]


def plans_of(graph, config=BASE):
    return list(product_plans(only_product(graph), graph, config))


def predict(graph, plan, timing):
    return predict_stage(only_product(graph), graph, BASE, only_stage(plan), timing)


@given(st.data())
def test_every_plan_is_legal(data):
    config = data.draw(configs())
    graph = graph_of("product", data.draw(problems(config.dim)))
    plans = plans_of(graph, config)
    assert plans
    for plan in plans:
        verify_plan(plan, graph, config)


@given(st.data())
def test_there_is_room_for_the_next_piece_beside_the_one_in_use(data):
    config = data.draw(configs())
    for plan in plans_of(graph_of("product", data.draw(problems(config.dim))), config):
        stage = only_stage(plan)
        a_rows = max(stage.rows) * stage.a.tiles
        b_rows = stage.w.k_tiles * stage.w.columns * config.dim
        for ring, rows in ((stage.a.ring, a_rows), (stage.w.ring, b_rows)):
            assert sum(size // rows for _, size in plan.rings[ring].spans) >= 2


def banks(plan, ring):
    """The banks that a ring has rows of."""
    return {first // BASE.scratchpad_bank_rows for first, _ in plan.rings[ring].spans}


@pytest.mark.parametrize(("rows", "of_a"), [(1, {0}), (16, {0}), (17, {0, 1}), (512, {0, 1})])
def test_with_few_rows_weights_have_most_banks(rows, of_a):
    plan = decide(graph_of("product", MatMul(m=rows, n=768, k=768, scale=1.0)), BASE)
    assert banks(plan, "a") == of_a
    assert banks(plan, "b") == {0, 1, 2, 3} - of_a


def test_the_cheapest_is_chosen():
    graph = graph_of("product", MatMul(m=200, n=300, k=400))
    timing = MemoryTiming(bytes_per_cycle=4)
    costs = [predict(graph, plan, timing).cycles for plan in plans_of(graph)]
    chosen = predict(graph, decide(graph, BASE, timing), timing)
    assert chosen.cycles <= 1.02 * min(costs)
    assert len(costs) > 10


def test_a_slow_memory_makes_for_less_traffic():
    graph = graph_of("product", MatMul(m=512, n=768, k=768, scale=1.0))
    slow, fast = (
        predict(graph, decide(graph, BASE, timing), timing)
        for timing in (MemoryTiming(bytes_per_cycle=2), MemoryTiming())
    )
    assert slow.read_bytes <= fast.read_bytes
