"""What a learned model of cycles sees of plans: of a product and of a graph."""

import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.lab.tune.features import FEATURES, seen_of
from celosia.sw.compiler.passes import predict
from celosia.sw.compiler.pipeline import find_plan
from celosia.sw.ir.matmul import MatMul
from celosia.sw.models.cases import softmax_case
from celosia.sw.planning.problems import graph_of

CONFIG, TIMING = resolve_config("tiny"), MemoryTiming(latency=7)
PRODUCT = graph_of("product", MatMul(m=8, n=12, k=20, scale=0.01))


def test_a_plan_has_a_number_for_each_feature_and_the_timelines_cycles():
    for graph in (PRODUCT, softmax_case(8, 12, 0).graph):
        plan = find_plan(graph, CONFIG, TIMING)
        seen = seen_of(graph, CONFIG, plan, TIMING)
        assert tuple(seen.features) == FEATURES
        assert seen.predicted == predict(graph, CONFIG, plan, TIMING).cycles
        assert seen.features["latency"] == 3  # log2 of 1 + 7


def test_features_count_what_a_product_needs():
    seen = seen_of(PRODUCT, CONFIG, find_plan(PRODUCT, CONFIG, TIMING), TIMING)
    found, cycles = seen.features, seen.predicted
    # 2 x 3 x 5 tiles of 4 x 4 x 4; operands of 160 and 240 bytes once, results of 96.
    assert found["products"] * cycles >= 30 * 4 / 2
    assert found["load_bytes"] * cycles * CONFIG.bus_bytes >= 160 + 240 - 1
    assert found["store_bytes"] * cycles * CONFIG.bus_bytes == pytest.approx(96, rel=0.01)
    assert found["transforms"] == 0
