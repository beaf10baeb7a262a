"""Formats that several readers of a tensor have to agree on, and what is refused of weights."""

import numpy as np
import pytest

from celosia.isa.encoding import WeightType
from celosia.isa.numerics.normalization import EPSILON_BITS
from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.ir.graph import LayerNorm
from celosia.sw.quantize.graphs.quantized import run_model
from celosia.sw.quantize.weight_types import WeightTypes
from tests.support.quantized_graph import quantize_graph

COLS = 16


def norms(*epsilons):
    """Norms of one tensor."""
    builder = GraphBuilder("norms")
    x = builder.input("x", TensorType("float32", (8, COLS)))
    gamma, beta = (builder.constant(np.full(COLS, v, np.float32)) for v in (1, 0.25))
    outputs = {
        f"y{number}": builder.op("layernorm", x, gamma, beta, axis=1, epsilon=epsilon)
        for number, epsilon in enumerate(epsilons)
    }
    return builder.finish(outputs)


@pytest.mark.parametrize("epsilons", [(1e-12, 1e-3), (1e-3, 1e-12), (1e-3,)])
def test_every_epsilon_of_what_norms_share_fits_its_field(epsilons):
    """The step of rows that are small is what the largest epsilon permits."""
    graph, random = norms(*epsilons), np.random.default_rng(0)
    given = {"x": (1e-5 * random.standard_normal((8, COLS))).astype(np.float32)}
    model = quantize_graph(graph, [given])
    (segment,) = model.segments
    found = [op for op in segment.graph.ops if isinstance(op, LayerNorm)]
    step = segment.graph.tensors[found[0].source.tensor].step
    assert step is not None
    for op, epsilon in zip(found, epsilons, strict=True):
        exact = COLS * np.float64(np.float32(epsilon)) / step**2
        assert op.epsilon == pytest.approx(exact, rel=1e-6, abs=0.51)
        assert op.epsilon < 1 << EPSILON_BITS
    real, outputs = interpret(graph, given), run_model(model, given).outputs
    # Where epsilon is next to all that there is, next to nothing is added to beta.
    large = f"y{epsilons.index(1e-3)}"
    np.testing.assert_allclose(outputs[large], real[large], atol=2e-3)


@pytest.mark.parametrize("inputs", [7, 8])
def test_an_odd_number_of_inputs_is_packed_as_an_even_one(inputs):
    builder = GraphBuilder("pairs")
    x = builder.input("x", TensorType("float32", (3, inputs)))
    random = np.random.default_rng(0)
    weights = builder.constant(random.standard_normal((inputs, 5)).astype(np.float32))
    graph = builder.finish({"y": builder.op("matmul", x, weights)})
    given = {"x": random.standard_normal((3, inputs)).astype(np.float32)}
    kinds = WeightTypes(inner=WeightType.INT4, last=WeightType.INT4)
    (segment,) = quantize_graph(graph, [given], weights=kinds).segments
    (packed,) = [each for each in segment.graph.tensors.values() if each.type == "int8"][1:]
    assert (packed.packing, packed.shape) == (WeightType.INT4, (inputs, 5))


@pytest.mark.parametrize("offset", [0.5, 0])
def test_a_norm_of_nearly_nothing_has_the_largest_epsilon(offset):
    """Without an offset, results are too small for gamma's integers: they may be zeros."""
    builder = GraphBuilder("nothing")
    x = builder.input("x", TensorType("float32", (8, 16)))
    gamma, beta = (builder.constant(np.full(16, v, np.float32)) for v in (1, offset))
    norm = builder.op("layernorm", x, gamma, beta, axis=1, epsilon=1e-5)
    graph = builder.finish({"y": norm})
    for size in (0, 1e-30, 1e-12, 1e-6):
        given = {"x": size * np.random.default_rng(0).standard_normal((8, 16), np.float32)}
        given["x"] = given["x"].astype(np.float32)
        model = quantize_graph(graph, [given])
        (real,) = interpret(graph, given).values()
        (found,) = run_model(model, given).outputs.values()
        if offset:
            assert np.square(real).sum() > 1e6 * np.square(real - found).sum()
        else:
            assert np.abs(real - found).max() <= np.abs(real).max()
