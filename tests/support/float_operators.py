"""Operators of the float graph by themselves: what they compute, and which types they take."""

import re
from typing import Any

import numpy as np
import pytest

from celosia.sw.frontend.nn.operators.operator import Array, GraphError, TensorType
from celosia.sw.frontend.nn.operators.table import OPERATORS

__all__ = ["computed", "refused", "result_of", "tensor"]


def tensor(text: str) -> TensorType:
    """The type that `text` names, as the texts of graphs do: `float32[2x3]`, `int64[]`."""
    dtype, _, sizes = text.rstrip("]").partition("[")
    return TensorType(dtype, tuple(int(each) for each in sizes.split("x") if each))


def result_of(op: str, *types: str, **attributes: Any) -> str:
    """The type of a result, as text."""
    return str(OPERATORS[op].result_type([tensor(each) for each in types], attributes))


def refused(message: str, op: str, *types: str, **attributes: Any) -> None:
    """Assert that operands of these types are refused in these words."""
    with pytest.raises(GraphError, match=re.escape(message)):
        result_of(op, *types, **attributes)


def computed(op: str, *values: Array | np.generic, **attributes: Any) -> Array:
    """A result, whose type is the one that the operator says."""
    arrays = [np.asarray(value) for value in values]
    types = [TensorType.of(array) for array in arrays]
    with np.errstate(all="ignore"):  # As where graphs are interpreted.
        found = np.asarray(OPERATORS[op].compute(arrays, attributes))
    assert TensorType.of(found) == OPERATORS[op].result_type(types, attributes)
    return found
