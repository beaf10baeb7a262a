"""Reductions and choices along axes, compared with ONNX Runtime."""

import numpy as np
import pytest

from tests.sw.frontend.importer.microsoft.nodes import compare

ENDS = np.iinfo(np.int32)
INTEGERS = np.array(
    [[3, ENDS.min, ENDS.max, ENDS.min], [0, -1, ENDS.max, ENDS.max], [5, 5, 5, 5]], np.int32
)
"""Both ends of their type, twice in a row, and equal ones."""


@pytest.mark.parametrize("last", [0, 1])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("kind", [np.int32, np.float32])
@pytest.mark.parametrize("op", ["ArgMin", "ArgMax"])
def test_places_of_the_ends_of_a_type_and_of_equal_numbers(op, kind, axis, last):
    compare(op, [INTEGERS.astype(kind)], domain="", axis=axis, select_last_index=last)


@pytest.mark.parametrize("op", ["ReduceMin", "ReduceMax"])
def test_reductions_of_the_ends_of_a_type(op):
    compare(op, [INTEGERS], domain="", axes=[1], keepdims=0)
