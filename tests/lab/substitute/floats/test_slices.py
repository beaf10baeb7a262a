"""Slices that move towards inputs: which do, and that results stay what they are."""

import numpy as np
import pytest

from celosia.lab.substitute.floats.slices import find_late_slices
from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.frontend.nn.random_inputs import random_inputs
from celosia.sw.frontend.recognize.rewrite import rewrite

SHAPE = (2, 5, 6)
ROWS = ((0, 2, 1), (1, 2, 2), (0, 6, 1))
"""First element, count and step along each axis: rows 1 and 3, each with all columns."""
COLUMNS = ((0, 2, 1), (0, 5, 1), (1, 3, 2))


def float32(*shape):
    return TensorType("float32", shape)


def gelu(builder, x):
    return builder.op("gelu", x, form="erf")


def add(*shape):
    return lambda builder, x: builder.op("add", builder.input("y", float32(*shape)), x)


def matmul(*shape):
    return lambda builder, x: builder.op("matmul", x, builder.input("y", float32(*shape)))


def softmax(axis):
    return lambda builder, x: builder.op("softmax", x, axis=axis)


def layernorm(axis):
    def norm(builder, x):
        vectors = [builder.input(name, float32(*SHAPE[axis:])) for name in ("gamma", "beta")]
        return builder.op("layernorm", x, *vectors, axis=axis, epsilon=1e-5)

    return norm


def sliced(make, cuts, shape=SHAPE):
    """A slice of what `make` makes of an input."""
    builder = GraphBuilder("sliced")
    made = make(builder, builder.input("x", float32(*shape)))
    starts, sizes, steps = (tuple(each) for each in zip(*cuts, strict=True))
    cut = builder.op("slice", made, starts=starts, sizes=sizes, steps=steps)
    return builder, made, cut


def moved(graph):
    """The operators of `graph` after the substitution, which must compute the same."""
    found = rewrite(graph, find_late_slices)
    assert not found.refusals
    inputs = random_inputs(graph, (), 3)
    expected, outputs = (interpret(each, inputs) for each in (graph, found.graph))
    assert outputs.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_allclose(outputs[name], value, rtol=1e-5, atol=1e-6)
    return [node.op for node in found.graph.nodes]


@pytest.mark.parametrize(
    ("make", "cuts", "operators"),
    [
        (gelu, ROWS, ["slice", "gelu"]),
        (gelu, COLUMNS, ["slice", "gelu"]),
        (add(2, 5, 6), ROWS, ["slice", "slice", "add"]),
        # Of an axis with one element, that one: wherever the slice begins, and in whatever steps.
        (add(2, 1, 6), ROWS, ["slice", "add"]),
        (add(5, 1), ROWS, ["slice", "slice", "add"]),
        (add(5, 1), COLUMNS, ["slice", "add"]),
        (add(1), COLUMNS, ["slice", "add"]),
        (matmul(6, 6), ROWS, ["slice", "matmul"]),
        (matmul(6, 6), ((1, 1, 1), (4, 1, 1), (0, 6, 1)), ["slice", "matmul"]),
        (softmax(2), ROWS, ["slice", "softmax"]),
        (layernorm(2), ROWS, ["slice", "layernorm"]),
    ],
)
def test_a_slice_of_elements_or_rows_comes_before_what_makes_them(make, cuts, operators):
    builder, _, cut = sliced(make, cuts)
    assert moved(builder.finish({"out": cut})) == operators


@pytest.mark.parametrize(
    ("make", "cuts"),
    [
        (matmul(6, 6), COLUMNS),  # Columns of a product are no part of its rows.
        (layernorm(2), COLUMNS),
        (softmax(2), COLUMNS),
        (matmul(2, 6, 6), ROWS),  # Each of two samples has weights of its own.
        (lambda builder, x: builder.op("transpose", x, permutation=(0, 1, 2)), ROWS),
    ],
)
def test_a_slice_of_anything_else_stays_where_it_is(make, cuts):
    builder, _, cut = sliced(make, cuts)
    operators = moved(builder.finish({"out": cut}))
    assert operators[-1] == "slice"


def test_what_others_read_or_want_is_sliced_where_it_is():
    builder, made, cut = sliced(gelu, ROWS)
    assert moved(builder.finish({"out": cut, "all": made})) == ["gelu", "slice"]
    builder, made, cut = sliced(gelu, ROWS)
    other = builder.op("neg", made)
    assert moved(builder.finish({"out": cut, "all": other})) == ["gelu", "slice", "neg"]


@pytest.mark.parametrize("make", [softmax(1), layernorm(1)])
def test_what_goes_along_several_rows_is_not_cut_between_them(make):
    builder, _, cut = sliced(make, ROWS)
    assert moved(builder.finish({"out": cut}))[-1] == "slice"
