"""Curves behind products that stand beside each other become curves of each product."""

from typing import Any

import numpy as np
import pytest

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.frontend.recognize.curves import find_curves
from celosia.sw.frontend.recognize.recognize import recognize
from celosia.sw.frontend.recognize.rewrite import rewrite
from celosia.sw.quantize.graphs.quantized import run_model
from tests.support.quantized_graph import quantize_graph

CURVES: dict[str, dict[str, Any]] = {"silu": {"alpha": 1.0}, "gelu": {"form": "erf"}, "relu": {}}


def beside(curve="gelu", *, biased=True, shown=False, computed=False):
    """A curve of the turned rows of two products that stand beside each other."""
    random, builder = np.random.default_rng(0), GraphBuilder("beside")
    x = builder.input("x", TensorType("float32", (5, 6)))
    parts = []
    for _ in range(2):
        w = builder.constant(random.standard_normal((6, 8)).astype(np.float32))
        part = builder.op("matmul", x, w)
        if biased:
            bias = builder.constant(random.standard_normal(8).astype(np.float32))
            part = builder.op("add", bias, part)
        parts.append(part)
    if computed:
        parts[0] = builder.op("tanh", parts[0])
    whole = builder.op("concat", *parts, axis=1)
    turned = builder.op("transpose", whole, permutation=(1, 0))
    outputs = {"y": builder.op(curve, turned, **CURVES[curve])}
    return builder.finish(outputs | ({"whole": whole} if shown else {}))


@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("curve", CURVES)
def test_each_product_has_the_curve(curve, biased):
    before = beside(curve, biased=biased)
    after = rewrite(before, find_curves).graph
    ops = [node.op for node in after.nodes]
    assert ops.count(curve) == 2
    assert ops[-2:] == ["concat", "transpose"]
    given = {"x": np.random.default_rng(1).standard_normal((5, 6)).astype(np.float32)}
    (found,), (expected,) = (interpret(graph, given).values() for graph in (after, before))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("other", [{"shown": True}, {"computed": True}])
def test_what_others_read_or_no_product_makes_stays(other):
    graph = rewrite(beside(**other), find_curves).graph
    assert [node.op for node in graph.nodes].count("gelu") == 1


@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize("kind", ["image", "part", "read"])
def test_a_curve_of_the_image_of_a_product_is_one_of_its_rows(curve, kind):
    """Not where some of it is left out, or where others read the image; GELU is too rough."""
    random, builder = np.random.default_rng(0), GraphBuilder("image")
    x = builder.input("x", TensorType("float32", (1, 6, 6)))
    rows = builder.op("matmul", x, builder.constant(random.standard_normal((6, 8), np.float32)))
    image = builder.op("reshape", rows, shape=(1, 2, 3, 8))
    image = builder.op("transpose", image, permutation=(0, 3, 1, 2))
    if kind == "part":
        image = builder.op("slice", image, starts=(0,) * 4, sizes=(1, 4, 2, 3), steps=(1,) * 4)
    outputs = {"y": builder.op(curve, image, **CURVES[curve])}
    before = builder.finish(outputs | ({"image": image} if kind == "read" else {}))
    after = rewrite(before, find_curves).graph
    ops = [node.op for node in after.nodes]
    assert (ops.index(curve) == 1) == (kind == "image" and curve != "gelu")
    given = {"x": random.standard_normal((1, 6, 6), np.float32)}
    found, expected = (interpret(graph, given)["y"] for graph in (after, before))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_gelu_behind_a_convolution_of_groups_is_no_work_of_the_host():
    random, builder = np.random.default_rng(0), GraphBuilder("position")
    x = builder.input("x", TensorType("float32", (1, 32, 12)))
    weights = builder.constant(random.standard_normal((32, 16, 4), np.float32) / 8)
    bias = builder.constant(random.standard_normal(32, np.float32))
    one = {"strides": (1,), "before": (2,), "after": (2,), "dilations": (1,), "groups": 2}
    image = builder.op("conv", x, weights, bias, **one)
    # The padding makes one place more than there were.
    same = builder.op("slice", image, starts=(0, 0, 0), sizes=(1, 32, 12), steps=(1, 1, 1))
    graph = recognize(builder.finish({"y": builder.op("gelu", same, form="erf")})).graph
    samples = [{"x": random.standard_normal((1, 32, 12), np.float32)} for _ in range(33)]
    model = quantize_graph(graph, samples[1:])
    (real,) = interpret(graph, samples[0]).values()
    (found,) = run_model(model, samples[0]).outputs.values()
    assert "gelu" not in model.host_operators
    assert np.square(found - real).mean() < 1e-3 * np.square(real).mean()
