"""Columns that go different ways are products of their own, but for attention's; so are experts."""

from typing import Any

import numpy as np
import pytest

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.frontend.recognize.parts import find_parts, find_stacks
from celosia.sw.frontend.recognize.recognize import recognize
from celosia.sw.frontend.recognize.rewrite import rewrite

CURVES: dict[str, dict[str, Any]] = {"silu": {"alpha": 1.0}, "gelu": {"form": "erf"}, "exp": {}}


def gated(*, biased=False, curve="silu", whole=False, steps=(1, 1, 1), texts=2):
    """``curve(x @ w)[:8] * (x @ w)[8:]``, with both parts from one product.

    The gate may take columns that are `steps` apart, and both parts of the first `texts` alone.
    """
    random, builder = np.random.default_rng(0), GraphBuilder("gated")
    x = builder.input("x", TensorType("float32", (2, 5, 6)))
    w = builder.constant(random.standard_normal((6, 16)).astype(np.float32))
    both = builder.op("matmul", x, w)
    if biased:
        both = builder.op("add", both, builder.constant(np.arange(16, dtype=np.float32)))
    sizes = (texts, 5, 8)
    gate = builder.op("slice", both, starts=(0, 0, 0), sizes=sizes, steps=steps)
    value = builder.op("slice", both, starts=(0, 0, 8), sizes=sizes, steps=(1, 1, 1))
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


@pytest.mark.parametrize("how", [{"steps": (1, 1, 2)}, {"texts": 1}])
def test_columns_that_are_not_beside_each_other_or_of_some_rows_stay(how):
    before = gated(**how)
    done = rewrite(before, find_parts)
    after = done.graph
    assert not done.refusals
    assert [node.op for node in after.nodes].count("matmul") == 1
    given = {"x": np.random.default_rng(1).standard_normal((2, 5, 6)).astype(np.float32)}
    (found,), (expected,) = (interpret(graph, given).values() for graph in (after, before))
    np.testing.assert_array_equal(found, expected)


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


def experts(build, shape=(1, 5, 6), size=3):
    """What the pass makes of a graph of an input and of stacks of weights, which it equals."""
    random, builder = np.random.default_rng(0), GraphBuilder("experts")
    x = builder.input("x", TensorType("float32", shape))

    def known(*sizes):
        return builder.constant(random.standard_normal(sizes).astype(np.float32))

    graph = builder.finish(build(builder, x, known, size))
    done = rewrite(graph, find_stacks)
    given = {"x": random.standard_normal(shape).astype(np.float32)}
    found, wanted = (interpret(each, given) for each in (done.graph, graph))
    for name, value in wanted.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-4, atol=1e-5)
    stacked = [
        node
        for node in done.graph.nodes
        if node.op == "matmul" and done.graph.types()[node.inputs[1]].rank > 2
    ]
    return [node.op for node in done.graph.nodes], stacked, done.refusals


def gated_experts(builder, x, known, size):
    gate = builder.op("silu", builder.op("matmul", x, known(size, 6, 8)), alpha=1.0)
    value = builder.op("add", builder.op("matmul", x, known(size, 6, 8)), known(size, 1, 8))
    both = builder.op("mul", gate, value)
    return {"y": builder.op("matmul", both, known(size, 8, 4))}


@pytest.mark.parametrize("shape", [(5, 6), (1, 5, 6), (2, 1, 5, 6), (3, 5, 6), (2, 3, 5, 6)])
def test_each_expert_is_a_chain_of_products(shape):
    ops, stacked, refusals = experts(gated_experts, shape)
    assert not stacked
    assert not refusals
    assert (ops.count("matmul"), ops.count("silu"), ops.count("concat")) == (9, 3, 1)


def test_a_stack_of_one_is_a_product():
    def build(builder, x, known, _):
        return {"y": builder.op("matmul", x, known(1, 1, 6, 4))}

    ops, stacked, _ = experts(build)
    assert not stacked
    assert "concat" not in ops


def test_what_others_read_too_is_there():
    def build(builder, x, known, size):
        inner = builder.op("matmul", x, known(size, 6, 8))
        return {"y": builder.op("matmul", inner, known(size, 8, 4)), "inner": inner}

    ops, stacked, _ = experts(build)
    assert not stacked
    assert ops.count("concat") == 2


def test_stacks_along_other_axes_are_split_each():
    def build(builder, x, known, size):
        inner = builder.op("matmul", x, known(size, 6, 8))
        return {"y": builder.op("matmul", inner, known(2, 1, 8, 4))}

    ops, stacked, _ = experts(build)
    assert not stacked
    assert ops.count("matmul") == 3 + 2


def test_stacks_of_several_axes_and_of_too_many_are_left():
    def build(builder, x, known, size):
        return {"y": builder.op("matmul", x, known(2, size, 6, 4))}

    _, stacked, refusals = experts(build)
    assert len(stacked) == 1
    assert not refusals

    def many(builder, x, known, _):
        return {"y": builder.op("matmul", x, known(129, 6, 1))}

    _, stacked, refusals = experts(many)
    assert len(stacked) == 1
    assert "129 stacked products, more than 128" in str(refusals[0])
