"""Nodes are where the units that were found put them, and the host's have a reason."""

from collections import Counter

import numpy as np
import pytest

from celosia.lab.exports.catalog import EXPORTS
from celosia.lab.exports.writing.size import SMALL
from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.frontend.recognize.recognize import Recognized
from celosia.sw.quantize.units.find_units import find_units
from celosia.sw.quantize.units.placement import Where, place
from tests.support.quantized_exports import imported

WIDTH = 8
ONES = np.ones(WIDTH, np.float32)


def placement(name):
    model = imported(name, batch=1, tokens=12)
    graph, recognized = model.imported.graph, model.recognized
    placed = place(graph, recognized, find_units(recognized.graph))
    assert placed.macs == sum(graph.macs().values())
    return placed


class Graph(GraphBuilder):
    """A builder with a product of an input and weights; each node has an origin of its own."""

    def __init__(self):
        super().__init__("test")
        self.count = 0
        x = self.input("x", TensorType("float32", (1, 6, WIDTH)))
        self.weights = self.constant(np.ones((WIDTH, WIDTH), np.float32))
        self.product = self.op("matmul", x, self.weights)

    def op(self, op, *operands, **attributes):
        self.count += 1
        with self.origin(f"{self.count} ({op})"):
            return super().op(op, *operands, **attributes)

    def decisions(self, out):
        graph = self.finish({"out": out})
        placed = place(graph, Recognized(graph, (), {}), find_units(graph)).nodes
        found = {node.origin: (node.where, node.reason) for node in placed}
        return {node.name: found[node.origin] for node in graph.nodes}

    def decision(self, out):
        return self.decisions(out)[out]


@pytest.mark.parametrize("name", EXPORTS)
def test_a_transformer_is_on_the_accelerator(name):
    assert placement(name).accelerator_mac_share > 0.99


def test_a_convolution_of_narrow_groups_is_the_accelerator_s():
    placed = placement("hybrid")
    convolutions = [node for node in placed.nodes if "(Conv)" in node.origin]
    assert Counter(node.where for node in convolutions) == {Where.ACCELERATOR: 4}


def test_both_products_of_attention_stand_in_the_table():
    nodes = {node.origin: node for node in placement("bert-13").nodes}
    module = "/encoder/layer.0/attention/self"
    scores, softmax = (
        nodes[f"{module}/{name}"] for name in ("MatMul (MatMul)", "Softmax (Softmax)")
    )
    assert scores.macs == 12 * 12 * SMALL.width
    assert scores.where == softmax.where == Where.ACCELERATOR
    assert scores.reason == softmax.reason == f"part of {module}/MatMul_1 (MatMul)"


def test_embeddings_are_added_by_the_accelerator_and_a_factor_of_one_is_nowhere():
    nodes = {node.origin: node for node in placement("bart-decoder").nodes}
    assert "/decoder/embed_tokens/Mul (Mul)" not in nodes
    assert nodes["/decoder/Add_4 (Add)"].where == Where.ACCELERATOR


def test_embeddings_that_the_host_reads_are_added_by_the_host():
    graph = Graph()
    places = graph.input("places", TensorType("int64", (1, 6)))
    tables = [graph.constant(np.full((9, WIDTH), each, np.float32)) for each in (1, 2)]
    words, types = (graph.op("gather", table, places, axis=0) for table in tables)
    added = graph.op("add", words, types)
    reason = "it is behind a gather of the host: it looks up rows of a table"
    assert graph.decisions(graph.op("tanh", added))[added] == (Where.HOST, reason)


def test_a_product_of_two_computed_matrices_is_the_host_s():
    graph = GraphBuilder("test")
    x = graph.input("x", TensorType("float32", (8, 8)))
    with graph.origin("first"):
        first = graph.op("matmul", x, graph.constant(np.eye(8, dtype=np.float32)))
    with graph.origin("second"):
        second = graph.op("matmul", first, x)
    whole = graph.finish({"y": second})
    placed = place(whole, Recognized(whole, (), {}), find_units(whole))
    assert [(node.where, node.reason) for node in placed.nodes] == [
        (Where.ACCELERATOR, ""),
        (Where.HOST, "its operands are computed, and it has no weights"),
    ]
    assert placed.accelerator_mac_share == 0.5


def test_a_product_its_bias_and_relu_are_on_the_accelerator():
    graph = Graph()
    total = graph.op("add", graph.product, graph.constant(ONES))
    decisions = graph.decisions(graph.op("relu", total))
    assert {where for where, _ in decisions.values()} == {Where.ACCELERATOR}
    assert decisions[total][1] == "a bias is part of a product"


def test_a_factor_of_a_product_is_part_of_it():
    graph = Graph()
    factor = graph.like(0.5, graph.product)
    scaled = graph.op("mul", graph.product, factor)
    assert graph.decision(scaled) == (Where.ACCELERATOR, "a factor is part of a product")


def test_a_factor_of_what_the_host_computes_is_the_host_s():
    graph = Graph()
    reason = "it is behind a tanh of the host: the accelerator has no tanh"
    computed = graph.op("tanh", graph.product)
    assert graph.decision(graph.op("mul", computed, graph.like(0.5, computed))) == (
        Where.HOST,
        reason,
    )


def test_a_sum_of_two_products_is_a_residual():
    graph = Graph()
    other = graph.op("gelu", graph.product, form="erf")
    total = graph.op("add", graph.product, other)
    assert graph.decision(total) == (Where.ACCELERATOR, "")


@pytest.mark.parametrize(
    ("op", "reason"),
    [("add", "its operands are inputs"), ("sub", "its operands are inputs")],
)
def test_a_sum_of_inputs_is_the_host_s(op, reason):
    graph = Graph()
    assert graph.decision(graph.op(op, "x", "x")) == (Where.HOST, reason)


def test_a_sum_of_curves_is_the_accelerator_s():
    graph = Graph()
    curve = graph.op("relu", graph.product)
    assert graph.decision(graph.op("add", curve, curve)) == (Where.ACCELERATOR, "")


def test_a_sum_of_what_the_host_makes_is_the_host_s():
    graph = Graph()
    one, other = (graph.op("softmax", graph.product, axis=axis) for axis in (2, 1))
    assert graph.decision(graph.op("add", one, other)) == (
        Where.HOST,
        "it is behind a softmax of the host: it is not behind a product",
    )


def test_what_is_behind_an_operator_of_the_host_has_its_reason():
    graph = Graph()
    first = graph.op("add", graph.op("abs", graph.product), "x")
    reason = "it is behind an abs of the host: the accelerator has no abs"
    assert graph.decision(first) == (Where.HOST, reason)
    assert graph.decision(graph.op("mul", first, first)) == (Where.HOST, reason)


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


def test_a_convolution_with_computed_filters_is_the_host_s():
    graph = Graph()
    image = graph.op("reshape", graph.product, shape=(1, 6, WIDTH))
    filters = graph.op("slice", image, starts=(0, 0, 0), sizes=(1, 6, 3), steps=(1, 1, 1))
    where = {"before": (0,), "after": (0,), "strides": (1,), "dilations": (1,), "groups": 1}
    assert graph.decision(graph.op("conv", image, filters, **where)) == (
        Where.HOST,
        "its filters are not constant",
    )


def test_what_has_no_elements_is_the_host_s():
    graph = Graph()
    x = graph.input("nothing", TensorType("float32", (0, WIDTH)))
    out = graph.op("matmul", x, graph.weights)
    assert graph.decision(out) == (Where.HOST, "it has no elements")


def test_norms_are_along_the_last_axis():
    graph = Graph()
    gamma = graph.constant(ONES)
    norm = graph.op("layernorm", graph.product, gamma, axis=2, epsilon=1e-5)
    assert graph.decision(norm) == (Where.ACCELERATOR, "")


def test_a_bias_of_scores_is_told():
    graph = Graph()
    heads = graph.op("reshape", graph.product, shape=(1, 2, 6, 4))
    known = graph.constant(np.ones((1, 2, 6, 6), np.float32))
    given = graph.input("bias", TensorType("float32", (1, 2, 6, 6)))
    attributes = {"scale": 1.0, "causal": False, "first_query": 0}
    for bias, what in ((known, "a constant bias"), (given, "a bias that is computed")):
        out = graph.op("attention", heads, heads, heads, bias, **attributes)
        assert graph.decision(out) == (Where.ACCELERATOR, f"{what} is added to its scores")


def test_a_lookup_by_an_input_is_the_host_s():
    graph = Graph()
    places = graph.input("places", TensorType("int64", (1, 6)))
    table = graph.constant(np.ones((5, WIDTH), np.float32))
    assert graph.decision(graph.op("gather", table, places, axis=0)) == (
        Where.HOST,
        "it looks up rows of a table",
    )


def test_what_the_host_computes_of_an_accelerator_s_node_is_said():
    """Queries that others read, too, are multiplied by the host, in front of the products."""
    graph = GraphBuilder("test")
    rows = graph.input("x", TensorType("float32", (1, 2, 6, WIDTH)))
    factor = graph.constant(np.array([2, 3], np.float32).reshape(2, 1, 1))
    how = {"scale": 1.0, "causal": False, "first_query": 0}
    with graph.origin("scores (MatMul)"):
        queries = graph.op("mul", rows, factor)
        attention = graph.op("attention", queries, rows, rows, **how)
    with graph.origin("other (Add)"):
        out = graph.op("add", attention, queries)
    finished = graph.finish({"out": out})
    placed = place(finished, Recognized(finished, (), {}), find_units(finished))
    scores, other = placed.nodes
    assert scores.where == Where.ACCELERATOR
    assert scores.host_part.startswith("mul: ")
    assert not other.host_part
    assert placed.parts_on_host() == {scores.host_part: 1}
