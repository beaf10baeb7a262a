"""Substitutions on float graphs: each finds what it is for, and outputs stay what they are."""

import numpy as np
import pytest

from celosia.lab.substitute.floats.concats import find_heads_apart
from celosia.lab.substitute.floats.table import FLOAT_SUBSTITUTIONS
from celosia.lab.substitute.optimize import differing_floats
from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.frontend.nn.random_inputs import random_inputs
from celosia.sw.frontend.recognize.rewrite import rewrite
from celosia.sw.rewriting.engine import exhaust

RULES = {rule.name: rule for rule in FLOAT_SUBSTITUTIONS}


class Maker:
    """A graph with random weights."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.builder = GraphBuilder("random")
        self.rows, self.cols = (int(size) for size in self.random.integers(2, 9, 2))

    def input(self, name="x"):
        return self.builder.input(name, TensorType("float32", (1, self.rows, self.cols)))

    def weights(self, *shape):
        return self.builder.constant(self.random.standard_normal(shape).astype(np.float32), "w")

    def linear(self, x, cols, *, biased=True):
        found = self.builder.op("matmul", x, self.weights(self.builder.type(x).shape[-1], cols))
        return self.builder.op("add", found, self.weights(cols)) if biased else found


def factors(maker):
    product = maker.linear(maker.input(), 4, biased=False)
    product = maker.builder.op("div", product, maker.weights(4))
    return maker.builder.op("mul", maker.weights(1), product)


def left(maker):
    narrow = maker.linear(maker.input(), 2, biased=False)
    return maker.linear(narrow, 5, biased=False)


def right(maker):
    x, y = maker.input(), maker.builder.input("y", TensorType("float32", (1, maker.cols, 3)))
    inner = maker.builder.op("matmul", y, maker.weights(3, 6))
    return maker.builder.op("matmul", x, inner)


def sums(maker):
    x = maker.input()
    parts = [maker.linear(x, 6, biased=maker.random.random() < 0.5) for _ in range(2)]
    return maker.builder.op("add", *parts)


def beside(maker):
    x, biased = maker.input(), bool(maker.random.random() < 0.5)
    parts = [maker.linear(x, cols, biased=biased) for cols in (3, 1, 4)]
    return maker.builder.op("concat", *parts, axis=2)


def biases(maker):
    parts = []
    for x, turn in (maker.input("x"), 1), (maker.input("y"), -1):
        operands = maker.builder.op("gelu", x, form="erf"), maker.weights(maker.cols)
        parts.append(maker.builder.op("add", *operands[::turn]))
    return maker.builder.op("concat", *parts, axis=2)


def heads(maker):
    x = maker.input()
    parts = [
        maker.builder.op("reshape", maker.linear(x, 3), shape=(1, 1, maker.rows, 3))
        for _ in range(4)
    ]
    return maker.builder.op("concat", *parts, axis=1)


def slices(maker):
    vectors = maker.weights(maker.cols), maker.weights(maker.cols)
    x = maker.builder.op("add", maker.input(), maker.weights(1, 1, maker.cols))
    x = maker.builder.op("layernorm", x, *vectors, axis=2, epsilon=1e-5)
    x = maker.linear(maker.builder.op("mul", x, maker.weights(maker.rows, 1)), 3)
    return maker.builder.op("slice", x, starts=(0, 1, 0), sizes=(1, 1, 3), steps=(1, 1, 1))


def twins(maker):
    weights, vectors = maker.weights(maker.cols, 6), (maker.weights(6), maker.weights(6))
    outs = []
    for name in "xy":
        out = maker.builder.op("matmul", maker.input(name), weights)
        out = maker.builder.op("layernorm", out, *vectors, axis=2, epsilon=1e-5)
        heads = maker.builder.op("reshape", out, shape=(1, maker.rows, 2, 3))
        heads = maker.builder.op("transpose", heads, permutation=(0, 2, 1, 3))
        plain = {"scale": 0.5, "causal": False, "first_query": 0}
        outs.append(maker.builder.op("attention", heads, heads, heads, **plain))
    return maker.builder.op("mul", *outs)


CASES = {
    "fold-factors": factors,
    "associate-right": left,
    "associate-left": right,
    "merge-sums": sums,
    "merge-concatenated": beside,
    "early-concatenations": biases,
    "gather-heads": heads,
    "early-slices": slices,
    "batch-twins": twins,
}


def test_every_substitution_has_a_case():
    assert CASES.keys() == RULES.keys()


@pytest.mark.parametrize("name", RULES)
def test_a_substitution_computes_the_same_on_random_graphs(name):
    for seed in range(8):
        maker = Maker(seed)
        graph = maker.builder.finish({"out": CASES[name](maker)})
        done = exhaust(RULES[name], graph)
        assert done.accepted, seed
        assert not done.refusals
        assert differing_floats(graph, done.graph, random_inputs(graph, [], seed)) is None


@pytest.mark.parametrize("name", RULES)
def test_what_a_substitution_is_not_for_stays(name):
    maker = Maker(1)
    x = maker.linear(maker.input(), maker.cols)
    total = maker.builder.op("add", x, maker.builder.op("gelu", x, form="erf"))
    graph = maker.builder.finish({"out": total})
    assert exhaust(RULES[name], graph).graph is graph


def test_a_product_that_others_read_is_sliced_where_it_is():
    maker = Maker(2)
    x = maker.builder.op("gelu", maker.input(), form="erf")
    first = maker.builder.op("slice", x, starts=(0, 0, 0), sizes=(1, 1, 1), steps=(1, 1, 1))
    graph = maker.builder.finish({"first": first, "all": x})
    assert exhaust(RULES["early-slices"], graph).graph is graph


def test_texts_through_other_weights_are_no_twins():
    maker = Maker(3)
    parts = [maker.linear(maker.input(name), 4, biased=False) for name in "xy"]
    graph = maker.builder.finish({"out": maker.builder.op("mul", *parts)})
    assert exhaust(RULES["batch-twins"], graph).graph is graph


@pytest.mark.parametrize(
    ("shape", "apart"), [((1, 4, 6), True), ((1, 24), False), ((1, 6, 4), False)]
)
def test_heads_are_of_tensors_with_their_rows(shape, apart):
    """Tensors of other rows and columns become heads by a reshape that is no mere view of them."""
    builder = GraphBuilder("test")
    names = [builder.input(name, TensorType("float32", shape)) for name in "xyz"]
    heads = [builder.op("reshape", name, shape=(1, 1, 4, 6)) for name in names]
    graph = builder.finish({"out": builder.op("concat", *heads, axis=1)})
    found = rewrite(graph, find_heads_apart).graph
    assert [node.op for node in found.nodes][-1] == ("transpose" if apart else "concat")
    inputs = random_inputs(graph, (), 1)
    expected, out = (interpret(each, inputs)["out"] for each in (graph, found))
    np.testing.assert_array_equal(out, expected)
