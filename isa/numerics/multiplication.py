"""The product of two rows of int16, element by element: a gate times what it lets through."""

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from celosia.isa.numerics.integers import INT16_MAX, INT16_MIN, IntArray, check_range
from celosia.isa.numerics.scaling import requantize_to

__all__ = ["multiply"]


def multiply(
    a: ArrayLike, b: ArrayLike, scale: ArrayLike, kind: DTypeLike, *, zero_point: int = 0
) -> IntArray:
    """``a * b`` of int16, requantized: `scale`, `kind` and `zero_point` as for `requantize_to`.

    The product has at most 31 bits and its sign, -32768 times itself included.

    >>> multiply([300, -32768, -32768], [-7, -32768, 3], 2.0**-16, np.int16)
    array([    0, 16384,    -2], dtype=int16)
    """
    left = check_range(a, INT16_MIN, INT16_MAX, "multiply").astype(np.int32)
    right = check_range(b, INT16_MIN, INT16_MAX, "multiply").astype(np.int32)
    return requantize_to(left * right, scale, kind, zero_point=zero_point)
