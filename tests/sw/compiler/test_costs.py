"""The model of a host, element by element, and costs of graphs that are alike."""

import numpy as np
import pytest

from celosia.isa.encoding import WeightType
from celosia.isa.presets import PRESETS
from celosia.sw.compiler import costs
from celosia.sw.compiler.costs import HOST_ELEMENT_CYCLES, Costs, host_cycles
from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.models.cases import (
    attention_case,
    encoder_layer_case,
    matmul_case,
    random_quantized_encoder,
)
from celosia.sw.quantize.weight_types import INT8_WEIGHTS, WEIGHT_CHOICES
from celosia.sw.reference.encoder import EncoderShape

TINY = PRESETS["tiny"]


def nodes():
    builder = GraphBuilder("g")
    x = builder.input("x", TensorType("float32", (3, 4)))
    y = builder.op("exp", x)
    turned = builder.op("transpose", y, permutation=(1, 0))
    both = builder.op("concat", y, x, axis=0)
    total = builder.op("reduce_sum", both, axes=(0,), keepdims=False)
    return builder.finish({"turned": turned, "total": total}).nodes


def test_a_host_computes_elements_copies_fast_and_looks_for_nothing():
    found = {node.op: host_cycles([node]) for node in nodes()}
    assert HOST_ELEMENT_CYCLES == 48
    assert found == {
        "exp": 12 * 48,
        "transpose": 0,
        "concat": 24,
        "reduce_sum": 4 * 48,
    }
    assert host_cycles(nodes()) == sum(found.values())
    assert host_cycles([]) == 0


def test_what_is_alike_is_predicted_once(monkeypatch):
    """Two heads after each other: the first alone, then the second behind it."""
    asked = []
    predict = costs.predict

    def counted(graph, *rest):
        asked.append(len(graph.ops))
        return predict(graph, *rest)

    monkeypatch.setattr(costs, "predict", counted)
    found = Costs(TINY)
    graph = matmul_case(4, 6, 8, 0).graph
    assert found.integer(graph) == found.whole(graph)
    assert asked == [1, 1]
    assert found.integer(graph) == found.integer(matmul_case(4, 6, 8, 5).graph)
    assert asked == [1, 1]
    other = matmul_case(8, 6, 8, 0).graph
    assert found.integer(other) > found.integer(graph)
    assert asked == [1, 1, 1]


def test_heads_together_cost_what_follows_costs():
    graph = attention_case(2, 8, 4, 0).graph
    found = Costs(TINY)
    assert found.integer(graph) == found.whole(graph)
    assert np.isfinite(found.integer(graph))


def test_groups_overlap_with_those_before_them_unless_none_is_said():
    """Each takes what all up to it take, without what those before it do: the sum is the whole."""
    model = random_quantized_encoder(EncoderShape(layers=2, width=8, heads=2, hidden=8), 0)
    graph, found = encoder_layer_case(model, [4], 0).graph, Costs(TINY)
    alone, with_all = (found.integer(graph, before) for before in (0, len(graph.ops)))
    whole = found.whole(graph)
    assert with_all == whole < alone
    assert abs(found.integer(graph) - whole) < (alone - whole) / 10


def test_a_float_graph_costs_what_its_host_does_as_well():
    builder = GraphBuilder("g")
    x = builder.input("x", TensorType("float32", (3, 5)))
    graph = builder.finish({"y": builder.op("exp", x)})
    assert Costs(TINY).floating(graph) == Costs(TINY).whole_floating(graph) == 15 * 48


@pytest.mark.parametrize(("macs", "way"), [(5 * 8 * 4, "whole"), (5 * 8 * 4 - 1, "apart")])
def test_models_with_more_products_than_are_followed_are_followed_by_groups(macs, way, monkeypatch):
    """What weights are decides what products take; what is left to the host is told beside."""
    builder = GraphBuilder("g")
    x = builder.input("x", TensorType("float32", (5, 8)))
    y = builder.op("matmul", x, builder.constant(np.ones((8, 4), np.float32)))
    graph = builder.finish({"y": builder.op("tanh", y)})
    asked = []

    def cycles(_self, segment, *before):
        int4 = (segment.tensors[name].packing is WeightType.INT4 for name in segment.constants)
        asked.append((any(int4), *before))
        return 7_000

    monkeypatch.setattr(costs, "_FOLLOWED", macs)
    monkeypatch.setattr(Costs, "whole", cycles)
    monkeypatch.setattr(Costs, "integer", cycles)
    for weights in (INT8_WEIGHTS, WEIGHT_CHOICES["int4-vocabulary"]):
        total, host = Costs(TINY).segments(graph, weights)
        assert total == 7_000
        assert [node.op for node in host] == ["tanh"]
        assert asked.pop() == (weights is not INT8_WEIGHTS, *{"whole": [], "apart": [0]}[way])
        assert not asked
