"""Products of matrices of integers, exact or modulo 2^32."""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.isa.numerics.integers import (
    INT32_MAX,
    INT32_MIN,
    IntArray,
    check_format,
    check_range,
    wrap32,
)

__all__ = ["add_bias", "exact_matmul", "fold_zero_point", "matmul"]

_EXACT_FLOAT32: Final = 1 << 24
_EXACT_FLOAT64: Final = 1 << 53
_EXACT_INT: Final = 1 << 63

_SMALL: Final = {
    np.dtype(kind): max(-int(np.iinfo(kind).min), int(np.iinfo(kind).max))
    for kind in (np.int8, np.uint8, np.int16, np.uint16)
}
"""The largest absolute value that each small type holds."""


def exact_matmul(a: ArrayLike, b: ArrayLike) -> NDArray[np.int64]:
    """The integer product ``a @ b`` without rounding or wrapping, as int64.

    `a` is (..., m, k) and `b` (..., k, n), of any integer types.  Where no partial sum can reach
    2^24 or 2^53, the product runs in float32 or float64, which is exact there and fast.  Raises
    `OverflowError` when an element does not fit int64.

    >>> exact_matmul(np.full((1, 2), -128, np.int8), np.full((2, 1), 255, np.uint8))
    array([[-65280]])
    """
    left, right = np.asarray(a), np.asarray(b)
    bound = _magnitude(left) * _magnitude(right) * max(1, left.shape[-1])
    if bound < _EXACT_FLOAT32:
        return (left.astype(np.float32) @ right.astype(np.float32)).astype(np.int64)
    if bound < _EXACT_FLOAT64:
        return (left.astype(np.float64) @ right.astype(np.float64)).astype(np.int64)
    if bound < _EXACT_INT:
        return left.astype(np.int64) @ right.astype(np.int64)
    return (left.astype(object) @ right.astype(object)).astype(np.int64)


def matmul(a: ArrayLike, b: ArrayLike, bias: ArrayLike | None = None) -> NDArray[np.int32]:
    """The product of the array, ``a @ b + bias`` modulo 2^32.

    `a` is int8 or uint8, `b` int8, `bias` int32 and one per column.  A product has 16 bits, so
    that no sum of fewer than 2^16 of them wraps before the bias does.

    >>> matmul(np.full((1, 2), 255, np.uint8), np.full((2, 1), -128, np.int8), [80])
    array([[-65200]], dtype=int32)
    """
    left, right = np.asarray(a), np.asarray(b)
    check_format(left.dtype, (np.int8, np.uint8), "matmul: activations")
    check_format(right.dtype, (np.int8,), "matmul: weights")
    product = exact_matmul(left, right)
    return wrap32(product) if bias is None else add_bias(product, bias)


def add_bias(x: ArrayLike, bias: ArrayLike) -> NDArray[np.int32]:
    """Accumulator elements plus an int32 bias per column, modulo 2^32.

    >>> add_bias([[1, (1 << 31) - 1]], [10, 1])
    array([[         11, -2147483648]], dtype=int32)
    """
    offsets = check_range(bias, INT32_MIN, INT32_MAX, "add_bias: bias")
    return wrap32(np.asarray(x, np.int64) + offsets)


def fold_zero_point(weights: ArrayLike, zero_point: int, bias: ArrayLike = 0) -> NDArray[np.int32]:
    """The bias for activations of this zero point: ``bias - zero_point * sum of a column``.

    ``a @ weights + result`` equals ``(a - zero_point) @ weights + bias`` modulo 2^32.

    >>> fold_zero_point(np.array([[1, -2], [3, -4]], np.int8), 10, [100, 100])
    array([ 60, 160], dtype=int32)
    """
    check_range(zero_point, 0, 255, "fold_zero_point: zero point")
    columns = np.asarray(weights)
    check_format(columns.dtype, (np.int8,), "fold_zero_point: weights")
    offsets = check_range(bias, INT32_MIN, INT32_MAX, "fold_zero_point: bias")
    return wrap32(offsets - zero_point * columns.sum(axis=-2, dtype=np.int64))


def _magnitude(x: IntArray) -> int:
    """A bound of the absolute values in `x`; small types answer without looking."""
    if bound := _SMALL.get(x.dtype):
        return bound
    if not np.issubdtype(x.dtype, np.integer):
        raise TypeError(f"exact_matmul: {x.dtype} is not an integer type")
    return max(-int(x.min(initial=0)), int(x.max(initial=0)))
