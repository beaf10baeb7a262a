"""Operands of units: vectors behind products, and rectangles of what a unit computes."""

import numpy as np
import pytest

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.frontend.recognize.reader import Reader
from celosia.sw.quantize.units.operands import Operands, rectangle

SIZE = 4
VECTOR = np.array([1.5, -2, 0.25, 8], np.float32)


def behind(op, value, *, first=False):
    """What finds operands of a graph, and its node of `x` and a known value."""
    builder = GraphBuilder("test")
    x = builder.input("x", TensorType("float32", (2, SIZE, SIZE)))
    known = builder.constant(np.asarray(value, np.float32))
    graph = builder.finish({"y": builder.op(op, *((known, x) if first else (x, known)))})
    return Operands(Reader(graph)), graph.nodes[-1]


@pytest.mark.parametrize(
    ("op", "value", "first", "bias"),
    [
        ("add", VECTOR, False, VECTOR),
        ("add", VECTOR, True, VECTOR),
        ("add", VECTOR[None, None], False, VECTOR),
        ("add", np.float32(3), False, np.full(SIZE, 3)),
        ("sub", VECTOR, False, -VECTOR),
        ("sub", np.float32(3), False, np.full(SIZE, -3)),
        ("sub", VECTOR, True, None),
        ("add", np.tile(VECTOR, (SIZE, 1)), False, VECTOR),
        ("add", np.tile(VECTOR[:, None], SIZE), False, None),
        ("add", VECTOR[:, None], False, None),
        ("mul", VECTOR, False, None),
    ],
)
def test_a_bias_is_what_is_added_to_each_row(op, value, first, bias):
    operands, node = behind(op, value, first=first)
    found = operands.bias("x", node, SIZE)
    assert (found is None) == (bias is None)
    np.testing.assert_array_equal(found, bias)


@pytest.mark.parametrize(
    ("op", "value", "factors"),
    [
        ("mul", VECTOR, VECTOR),
        ("mul", VECTOR[None, None], VECTOR),
        ("mul", VECTOR[:, None], None),
        ("mul", np.float32(3), None),
        ("mul", np.tile(VECTOR, (SIZE, 1)), None),
        ("add", VECTOR, None),
    ],
)
def test_factors_are_those_of_columns(op, value, factors):
    for first in (False, True):
        operands, node = behind(op, value, first=first)
        found = operands.factors(node, SIZE)
        assert (found is None) == (factors is None)
        np.testing.assert_array_equal(found, factors)


@pytest.mark.parametrize("order", ["rows", "columns", "shuffled"])
def test_a_rectangle_is_found_wherever_it_stands(order):
    places = np.arange(20).reshape(4, 5)
    if order == "columns":
        places = np.arange(20).reshape(5, 4).T
    elif order == "shuffled":
        places = np.random.default_rng(0).permutation(20).reshape(4, 5)
    for row, col, rows, cols in np.ndindex(4, 5, 5, 6):
        wanted = places[row : row + rows, col : col + cols]
        if wanted.shape == (rows, cols) and wanted.size:
            assert rectangle(places, wanted) == (row, col)
            if wanted.size > 1:
                assert rectangle(places, wanted[::-1, ::-1]) is None
            wider = np.pad(wanted, ((0, 1), (0, 0)), constant_values=99)
            assert rectangle(places, wider) is None
    assert rectangle(places, np.array([[99]])) is None
    assert rectangle(places, np.array([[20]])) is None
