"""What integer graphs are made of: constants in the steps of what they meet."""

from dataclasses import replace

import numpy as np
import pytest

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.ir.graph import LayerNorm, MatMul, Requantize, Sums
from celosia.sw.quantize.graphs.calibrate import calibrate
from celosia.sw.quantize.graphs.quantized import instantiate, interpreted, run_model
from celosia.sw.quantize.units.values import Form
from tests.support.quantized_exports import quantized


def test_an_epsilon_is_in_squared_steps_of_what_is_normalized():
    model = quantized("llama")
    segment = model.segments[0]
    norm = next(op for op in segment.graph.ops if isinstance(op, LayerNorm))
    step = segment.graph.tensors[norm.source.tensor].step
    assert norm.rms
    assert step is not None
    assert norm.epsilon == round(64 * np.float64(np.float32(1e-5)) / step**2) > 0


def product(bias):
    """A product of 70 columns, and its formats; `bias` or none is added."""
    random = np.random.default_rng(4)
    builder = GraphBuilder("product")
    x = builder.input("x", TensorType("float32", (3, 8)))
    weights = builder.constant(random.normal(size=(8, 70)).astype(np.float32))
    y = builder.op("matmul", x, weights, name="y")
    if bias:
        y = builder.op("add", y, builder.constant(np.full(70, 0.5, np.float32)), name="biased")
    graph = builder.finish({"out": y})
    inputs = {"x": random.normal(size=(3, 8)).astype(np.float32)}
    return graph, y, calibrate(lambda types: graph, [inputs]), inputs


@pytest.mark.parametrize("bias", [False, True])
def test_a_product_has_a_bias_where_something_is_added(bias):
    graph, _, formats, _ = product(bias)
    (op,) = instantiate(graph, formats).segments[0].graph.ops
    assert isinstance(op, MatMul)
    assert isinstance(op.finish, Requantize)
    assert (op.bias is not None) == bias


@pytest.mark.parametrize("bias", [False, True])
def test_sums_for_the_host_fill_bursts_and_are_read_in_their_steps(bias):
    graph, name, formats, inputs = product(bias)
    model = instantiate(graph, replace(formats, sums=frozenset((name,))))
    (op,) = model.segments[0].graph.ops
    assert isinstance(op, MatMul)
    assert isinstance(op.finish, Sums)
    assert (op.out.cols, op.b.cols) == (128, 128)
    found = run_model(model, inputs).outputs["out"]
    wide = run_model(instantiate(graph, formats), inputs).outputs["out"]
    assert found.shape == wide.shape == (3, 70)
    np.testing.assert_allclose(found, wide, atol=wide.max() / 32_000)


def test_what_is_added_has_int8_of_each_column_where_a_product_reads_it():
    """As where layers begin with products: columns of all sizes, of which none is lost."""
    random = np.random.default_rng(5)
    sizes = np.geomspace(0.05, 20, 16).astype(np.float32)
    builder = GraphBuilder("sum")
    places = builder.input("places", TensorType("int64", (1, 6)))
    tables = [builder.constant(random.normal(size=(9, 16)).astype("f4") * sizes) for _ in range(2)]
    words, types = (builder.op("gather", table, places, axis=0) for table in tables)
    total = builder.op("add", words, types, name="total")
    weights = builder.constant(random.normal(size=(16, 16)).astype("f4") / sizes[:, None])
    graph = builder.finish({"y": builder.op("add", builder.op("matmul", total, weights), total)})
    inputs = {"places": random.integers(0, 9, (1, 6))}
    formats = calibrate(lambda types: graph, [{"places": np.arange(6)[None] + n} for n in range(4)])
    model = instantiate(graph, formats)
    seen = {}

    def segment(number, graph, inputs):
        seen.update(interpreted(number, graph, inputs))
        return seen

    found = run_model(model, inputs, segment).outputs["y"]
    assert len(model.segments) == 1
    assert model.host_operators == {"gather": 2}
    (made,) = model.segments
    wide, small = (
        next(n for n, f in made.made.items() if f == Form("total", role))
        for role in ("wide", "small")
    )
    expected = seen[wide] * formats.forms[Form("total", "wide")].step
    steps = formats.forms[Form("total", "small")].steps
    assert steps.max() > 4 * steps.min()
    rounded = np.clip(expected / steps, -127, 127)
    np.testing.assert_allclose(seen[small], rounded, atol=0.51, rtol=0.005)
    float_y = interpret(graph, inputs)["y"]
    assert np.linalg.norm(found - float_y) < 0.02 * np.linalg.norm(float_y)
