"""Each operator is placed by what the accelerator computes, with the reason."""

import numpy as np
import pytest

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.frontend.placement.rules import Where, placed
from celosia.sw.frontend.recognize.reader import Reader

WIDTH = 8
ONES = np.ones(WIDTH, np.float32)


class Graph(GraphBuilder):
    """A builder with a product of an input and weights."""

    def __init__(self):
        super().__init__("test")
        x = self.input("x", TensorType("float32", (1, 6, WIDTH)))
        weights = self.constant(np.ones((WIDTH, WIDTH), np.float32))
        self.product = self.op("matmul", x, weights)

    def decisions(self, out):
        return placed(Reader(self.finish({"out": out})))

    def decision(self, out):
        return self.decisions(out)[out]


def test_a_product_its_bias_and_relu_are_on_the_accelerator():
    graph = Graph()
    total = graph.op("add", graph.product, graph.constant(ONES))
    decisions = graph.decisions(graph.op("relu", total))
    assert {where for where, _ in decisions.values()} == {Where.ACCELERATOR}
    assert decisions[total][1] == "a bias is part of a product"


def test_a_sum_of_two_products_is_a_residual():
    graph = Graph()
    other = graph.op("gelu", graph.product, form="erf")
    assert graph.decision(graph.op("add", graph.product, other))[0] == Where.ACCELERATOR


def test_a_number_behind_the_number_of_a_product_is_a_bias():
    graph = GraphBuilder("test")
    x = graph.input("x", TensorType("float32", (1, WIDTH)))
    product = graph.op("matmul", x, graph.constant(ONES[:, np.newaxis]))
    number = graph.op("reshape", product, shape=())
    total = graph.op("add", number, graph.constant(np.float32(2)))
    where, why = placed(Reader(graph.finish({"y": total})))[total]
    assert (where, why) == (Where.ACCELERATOR, "a bias is part of a product")


def test_a_factor_is_part_of_a_scale():
    graph = Graph()
    factor = graph.like(0.5, graph.product)
    assert graph.decision(graph.op("mul", graph.product, factor))[0] == Where.NOBODY


def test_a_sum_of_tensors_of_the_host_stays_there():
    graph = Graph()
    assert graph.decision(graph.op("add", "x", "x")) == (
        Where.HOST,
        "its operands are inputs",
    )


def test_what_is_behind_an_operator_of_the_host_has_its_reason():
    graph = Graph()
    first = graph.op("add", graph.op("tanh", graph.product), "x")
    reason = "it is behind a tanh of the host: the accelerator has no tanh"
    assert graph.decision(first) == (Where.HOST, reason)
    assert graph.decision(graph.op("sub", first, first)) == (Where.HOST, reason)


def test_views_compute_nothing():
    graph = Graph()
    turned = graph.op("transpose", graph.product, permutation=(0, 2, 1))
    assert graph.decision(turned) == (Where.NOBODY, "it moves elements")


@pytest.mark.parametrize(
    ("op", "attributes", "reason"),
    [
        ("tanh", {}, "the accelerator has no tanh"),
        ("reduce_mean", {"axes": (1,), "keepdims": True}, "the accelerator has no reduce_mean"),
        ("softmax", {"axis": 1}, "softmax is not along the last axis"),
        ("cast", {"to": "int32"}, "its elements are int32"),
    ],
)
def test_what_the_host_does_has_a_reason(op, attributes, reason):
    graph = Graph()
    out = graph.op(op, graph.product, **attributes)
    assert graph.decision(out) == (Where.HOST, reason)


def test_norms_are_along_the_last_axis():
    graph = Graph()
    gamma = graph.constant(ONES)
    norm = graph.op("layernorm", graph.product, gamma, axis=2, epsilon=1e-5)
    assert graph.decision(norm) == (Where.ACCELERATOR, "")


def test_a_bias_of_scores_is_told():
    graph = Graph()
    heads = graph.op("reshape", graph.product, shape=(1, 2, 6, 4))
    bias = graph.constant(np.ones((1, 2, 6, 6), np.float32))
    attributes = {"scale": 1.0, "causal": False, "first_query": 0}
    out = graph.op("attention", heads, heads, heads, bias, **attributes)
    assert graph.decision(out) == (
        Where.ACCELERATOR,
        "a constant bias is added to its scores",
    )


def test_a_lookup_by_an_input_is_the_host_s():
    graph = Graph()
    places = graph.input("places", TensorType("int64", (1, 6)))
    table = graph.constant(np.ones((5, WIDTH), np.float32))
    assert graph.decision(graph.op("gather", table, places, axis=0)) == (
        Where.HOST,
        "it looks up rows of a table",
    )
