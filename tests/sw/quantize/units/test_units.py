"""Values are tensors as matrices, and rectangles of them are found by numbers."""

import numpy as np
import pytest

from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.quantize.units.operands import rectangle
from celosia.sw.quantize.units.values import Value


@pytest.mark.parametrize("heads", [False, True])
def test_a_matrix_is_the_tensor_again(heads):
    tensor = np.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5)
    value, kind = Value("x", heads), TensorType("int64", tensor.shape)
    matrix = value.matrix(tensor)
    assert matrix.shape == value.shape(kind) == ((8, 15) if heads else (24, 5))
    assert np.array_equal(value.tensor_of(matrix, kind), tensor)
    if heads:  # The second head of the first text stands in columns 5 to 9 of rows 0 to 3.
        assert np.array_equal(matrix[:4, 5:10], tensor[0, 1])


def test_a_rectangle_is_found_only_where_all_of_it_stands():
    places = np.arange(12).reshape(3, 4)
    assert rectangle(places, places[1:3, 2:4]) == (1, 2)
    assert rectangle(places, np.array([[6, 7], [10, 12]])) is None
    assert rectangle(places, np.array([[11, 12]])) is None
    assert rectangle(places, np.array([[40]])) is None
