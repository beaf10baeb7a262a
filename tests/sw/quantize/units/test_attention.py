"""Factors of heads are part of the scales of their scores, as in cosine attention."""

import numpy as np
import pytest

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.quantize.graphs.observe import SeenAttention
from celosia.sw.quantize.graphs.quantized import run_model
from celosia.sw.quantize.units.find_units import find_units
from celosia.sw.quantize.units.units import Attention
from tests.support.quantized_graph import quantize_graph
from tests.sw.frontend.importer.models import floats

ROWS, WIDTH, HEADS = 6, 16, 2


BIAS = floats(1, HEADS, ROWS, ROWS, seed=4)


def cosine(factors, *, first=False, read=False, shown=False, biased=False):
    """Attention of an input, whose queries are multiplied; others may read these, too."""
    builder = GraphBuilder("cosine")
    x = builder.input("x", TensorType("float32", (1, ROWS, HEADS * WIDTH)))

    def heads(seed):
        weights = builder.constant(floats(HEADS * WIDTH, HEADS * WIDTH, seed=seed) / 6)
        made = builder.op("matmul", x, weights)
        apart = builder.op("reshape", made, shape=(1, ROWS, HEADS, WIDTH))
        return builder.op("transpose", apart, permutation=(0, 2, 1, 3))

    factor = builder.constant(np.asarray(factors, np.float32))
    queries, keys, values = heads(1), heads(2), heads(3)
    operands = (factor, queries) if first else (queries, factor)
    scaled = builder.op("mul", *operands)
    how = {"scale": 0.25, "causal": False, "first_query": 0}
    bias = [builder.constant(BIAS)] if biased else []
    y = builder.op("attention", scaled, keys, values, *bias, **how)
    outputs = {"y": builder.op("add", y, scaled)} if read else {"y": y}
    return builder.finish(outputs | ({"scaled": scaled} if shown else {})), scaled, y


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("shape", [(2, 1, 1), (1, 2, 1, 1)])
def test_a_factor_of_each_head_is_part_of_its_scores(shape, first):
    graph, scaled, y = cosine(np.reshape([0.5, 8], shape), first=first)
    unit = find_units(graph).units[y]
    assert isinstance(unit, Attention)
    assert unit.nodes == (scaled, y)
    assert [unit.scale_of(head) for head in unit.heads[0]] == [0.125, 2.0]


@pytest.mark.parametrize("factors", [[[[1]], [[-2]]], [[[1]], [[0]]], np.ones((ROWS, 1))])
def test_others_are_multiplied_by_the_host(factors):
    """Scores have no negative scales, and no scale for each row."""
    graph, scaled, y = cosine(factors)
    found = find_units(graph)
    assert found.units[y].nodes == (y,)
    assert scaled in found.refusals


@pytest.mark.parametrize("who", ["read", "shown"])
def test_queries_that_others_read_are_multiplied_for_all(who):
    graph, scaled, y = cosine([[[1]], [[2]]], **{who: True})
    assert scaled not in find_units(graph).units[y].nodes


@pytest.mark.parametrize("biased", [False, True])
def test_integers_have_the_factors(biased):
    """Without them, scores of one head would be four times as large, those of the other half."""
    graph, *_ = cosine([[[0.25]], [[2]]], biased=biased)
    samples = [{"x": floats(1, ROWS, HEADS * WIDTH, seed=seed)} for seed in range(8)]
    given = {"x": floats(1, ROWS, HEADS * WIDTH, seed=9)}
    found = run_model(quantize_graph(graph, samples), given).outputs["y"]
    wanted = interpret(graph, given)["y"]
    assert np.square(found - wanted).sum() < np.square(wanted).sum() * 10**-2.5


def test_calibration_sees_the_scores_of_each_head():
    graph, scaled, y = cosine([[[0.5]], [[8]]])
    units = find_units(graph)
    attention = units.units[y]
    assert isinstance(attention, Attention)
    inputs = {"x": floats(1, ROWS, HEADS * WIDTH, seed=9)}
    tensors = {**graph.constants, **inputs}
    interpret(graph, inputs, tensors.__setitem__)
    keys = next(node.inputs[1] for node in graph.nodes if node.name == y)
    wanted = tensors[scaled][0] @ np.swapaxes(tensors[keys][0], 1, 2) * 0.25
    found = [scores for scores, _ in SeenAttention(attention, units.values).scores(tensors)]
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)
