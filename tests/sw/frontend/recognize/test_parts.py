"""Columns of one product that go different ways are products of their own, but for attention's."""

from typing import Any

import numpy as np
import pytest

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.frontend.recognize.parts import find_parts
from celosia.sw.frontend.recognize.recognize import recognize
from celosia.sw.frontend.recognize.rewrite import rewrite

CURVES: dict[str, dict[str, Any]] = {"silu": {"alpha": 1.0}, "gelu": {"form": "erf"}, "exp": {}}


def gated(*, biased=False, curve="silu", whole=False):
    """``curve(x @ w)[:8] * (x @ w)[8:]``, with both parts from one product."""
    random, builder = np.random.default_rng(0), GraphBuilder("gated")
    x = builder.input("x", TensorType("float32", (2, 5, 6)))
    w = builder.constant(random.standard_normal((6, 16)).astype(np.float32))
    both = builder.op("matmul", x, w)
    if biased:
        both = builder.op("add", both, builder.constant(np.arange(16, dtype=np.float32)))
    cut: dict[str, Any] = {"sizes": (2, 5, 8), "steps": (1, 1, 1)}
    gate = builder.op("slice", both, starts=(0, 0, 0), **cut)
    value = builder.op("slice", both, starts=(0, 0, 8), **cut)
    outputs = {"y": builder.op("mul", builder.op(curve, gate, **CURVES[curve]), value)}
    return builder.finish(outputs | ({"both": both} if whole else {}))


@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("curve", ["silu", "gelu"])
def test_gate_and_value_are_two_products(biased, curve):
    before = gated(biased=biased, curve=curve)
    done = rewrite(before, find_parts)
    assert done.refusals == ()
    ops = [node.op for node in done.graph.nodes]
    assert ops.count("matmul") == 2
    assert "slice" not in ops
    given = {"x": np.random.default_rng(1).standard_normal((2, 5, 6)).astype(np.float32)}
    (found,), (expected,) = (interpret(graph, given).values() for graph in (done.graph, before))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_what_somebody_reads_whole_stays_one_product():
    graph = rewrite(gated(whole=True), find_parts).graph
    assert [node.op for node in graph.nodes].count("matmul") == 1


def test_columns_without_a_curve_stay_together():
    graph = rewrite(gated(curve="exp"), find_parts).graph
    assert [node.op for node in graph.nodes].count("matmul") == 2, "a product of two reads parts"
    graph = rewrite(attention_columns(), find_parts).graph
    assert [node.op for node in graph.nodes].count("slice") == 2


def attention_columns():
    builder = GraphBuilder("columns")
    x = builder.input("x", TensorType("float32", (1, 4, 8)))
    both = builder.op("matmul", x, builder.constant(np.eye(8, dtype=np.float32)))
    cut: dict[str, Any] = {"sizes": (1, 4, 4), "steps": (1, 1, 1)}
    left, right = (builder.op("slice", both, starts=(0, 0, at), **cut) for at in (0, 4))
    right = builder.op("transpose", right, permutation=(0, 2, 1))
    return builder.finish({"y": builder.op("matmul", left, right)})


def test_roundings_to_16_bits_are_left_out_and_a_norm_is_found_between_them():
    builder = GraphBuilder("half")
    x = builder.input("x", TensorType("float32", (4, 16)))
    square = builder.op("pow", x, builder.like(2, x))
    mean = builder.op("reduce_mean", square, axes=(1,), keepdims=True)
    root = builder.op("sqrt", builder.op("add", mean, builder.like(1e-5, x)))
    normed = builder.op("mul", x, builder.op("div", builder.like(1, x), root))
    rounded = builder.op("round_float", normed, to="float16")
    gamma = builder.constant(np.linspace(0.5, 2, 16, dtype=np.float32))
    graph = builder.finish({"y": builder.op("mul", gamma, rounded)})
    assert [node.op for node in recognize(graph).graph.nodes] == ["rmsnorm"]
