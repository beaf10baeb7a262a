"""Tensors as matrices with a row for each token, and back."""

import numpy as np
import pytest

from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.ir.graph import View
from celosia.sw.quantize.units.values import Value

HEADS = np.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5)


@pytest.mark.parametrize(
    ("shape", "matrix"),
    [
        ((2, 3, 4), (6, 4)),
        ((4,), (1, 4)),
        ((), (1, 1)),
        ((5, 1), (5, 1)),
        ((2, 0, 4), (0, 4)),
        ((3, 0), (0, 0)),
    ],
)
def test_a_row_for_each_token(shape, matrix):
    value, kind = Value("x"), TensorType("float32", shape)
    assert value.shape(kind) == matrix
    assert value.whole(kind) == View("x", 0, 0, *matrix)
    if 0 not in shape:
        array = np.arange(np.prod(shape, dtype=int)).reshape(shape)
        found = value.matrix(array)
        assert found.shape == matrix
        np.testing.assert_array_equal(found.ravel(), array.ravel())
        np.testing.assert_array_equal(value.tensor_of(found, kind), array)


def test_heads_stand_beside_each_other():
    value, kind = Value("x", heads=True), TensorType("float32", HEADS.shape)
    found = value.matrix(HEADS)
    assert value.shape(kind) == found.shape == (2 * 4, 3 * 5)
    for batch, head, row in np.ndindex(2, 3, 4):
        part = found[batch * 4 + row, head * 5 : head * 5 + 5]
        np.testing.assert_array_equal(part, HEADS[batch, head, row])
    np.testing.assert_array_equal(value.tensor_of(found, kind), HEADS)
    few = Value("x", heads=True)
    np.testing.assert_array_equal(few.matrix(HEADS[0, 0]), HEADS[0, 0])
    assert few.shape(TensorType("float32", (3, 4, 5))) == (4, 15)
    assert few.shape(TensorType("float32", (5,))) == (1, 5)


def test_heads_that_stand_beside_each_other_already():
    value, kind = Value("x", rows=True), TensorType("int64", HEADS.shape)
    found = value.matrix(HEADS)
    assert value.shape(kind) == found.shape == (2 * 3, 4 * 5)
    for batch, row, head in np.ndindex(2, 3, 4):
        part = found[batch * 3 + row, head * 5 : head * 5 + 5]
        np.testing.assert_array_equal(part, HEADS[batch, row, head])
    np.testing.assert_array_equal(value.tensor_of(found, kind), HEADS)


def test_several_heads_have_the_one_that_is_there():
    value = Value("x", heads=True, copies=2)
    found = value.matrix(HEADS[:, :1])
    assert value.shape(TensorType("float32", (2, 1, 4, 5))) == found.shape == (8, 10)
    np.testing.assert_array_equal(found[:, :5], found[:, 5:])
    np.testing.assert_array_equal(found[:, :5], HEADS[:, 0].reshape(8, 5))
    both = value.matrix(HEADS[:1, :2])
    for place, head in enumerate((0, 0, 1, 1)):
        np.testing.assert_array_equal(both[:, 5 * place : 5 * place + 5], HEADS[0, head])


def test_what_views_call_it():
    assert Value("x").key == "x"
    assert Value("x", heads=True).key == "x by heads"
    assert Value("x", rows=True).key == "x by rows"
    assert Value("x", heads=True, scores="a").key == "x for the scores of a"
