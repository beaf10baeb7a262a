"""Bit-exact integer arithmetic of the accelerator, in NumPy.

These functions *define* what the hardware computes.  The RTL tests, the functional simulator and
the compiler call them; none has a second copy.  All are vectorized: they take arrays of any shape
and return a new array of the broadcast shape (for plain numbers: a NumPy scalar or 0-d array).
"""

from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "INT8_MAX",
    "INT8_MIN",
    "exact_matmul",
    "mvin_scale",
    "relu",
    "requantize",
    "saturate",
    "scale_from_bits",
    "wrap32",
]

INT8_MIN: Final = -128
INT8_MAX: Final = 127

_OUTPUTS: Final = (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64)
_EXACT_FLOAT: Final = 1 << 53
_EXACT_INT: Final = 1 << 63

IntArray = NDArray[Any]
"""An array of any integer type."""


def requantize(
    x: ArrayLike, scale: ArrayLike, *, low: int = INT8_MIN, high: int = INT8_MAX
) -> IntArray:
    """Scale integers into ``low..high``: ``saturate(round(float32(x) * scale))``.

    `x` holds integers of int32's range; `scale` is a float32, or an array of them that broadcasts
    against `x` (one per column: a vector; one per row: a column).  The conversion to float32, the
    product and the rounding to an integer are each to nearest, ties to even.  The result has the
    smallest type of int8, uint8, int16, uint16, int32 and int64 that holds ``low..high``.

    Every scale has a result: NaN gives 0; an infinity gives 0 for 0 and otherwise saturates by
    sign; zeros and subnormals of either sign give 0 (their products stay far below one half).

    Gemmini's `acc_scale` and `mvin_scale`, and shared numerics 1.1.

    >>> requantize([1, 3, 5, -1, 300, -300], 0.5)
    array([   0,    2,    2,    0,  127, -128], dtype=int8)
    >>> requantize([0, 7, -7], np.inf), requantize(7, np.nan)
    (array([   0,  127, -128], dtype=int8), np.int8(0))
    >>> requantize([[100, 100]], [0.5, 3.0], low=0, high=255)
    array([[ 50, 255]], dtype=uint8)
    """
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        product = np.asarray(x).astype(np.float32) * np.asarray(scale, dtype=np.float32)
        # float64 holds int32's bounds exactly, to saturate to; float32 would round them.
        whole = np.rint(product, dtype=np.float64)
    whole = np.where(np.isnan(whole), 0.0, whole)
    return np.clip(whole, low, high).astype(_output_type(low, high))


def mvin_scale(x: ArrayLike, scale: ArrayLike) -> NDArray[np.int8]:
    """Scale int8 elements on their way in: `requantize` to int8 (Gemmini's `mvin_scale`).

    `x` holds int8, `scale` is a float32 or broadcasts against `x`.

    >>> mvin_scale(np.array([-128, 3, 5], np.int8), 0.5)
    array([-64,   2,   2], dtype=int8)
    """
    return requantize(x, scale)


def scale_from_bits(bits: ArrayLike) -> NDArray[np.float32]:
    """The float32 whose bits an instruction carries, for one number or an array of them.

    >>> scale_from_bits([0x3F80_0000, 0xBF00_0000])
    array([ 1. , -0.5], dtype=float32)
    """
    return np.asarray(bits, dtype=np.uint32).view(np.float32)


def wrap32(x: ArrayLike) -> NDArray[np.int32]:
    """Integers of int64's range modulo 2^32, as an accumulator element keeps them.

    >>> wrap32([1 << 31, -1, (1 << 32) + 5])
    array([-2147483648,          -1,           5], dtype=int32)
    """
    return np.asarray(x, dtype=np.int64).astype(np.int32)


def saturate(x: ArrayLike, bits: int) -> NDArray[np.int64]:
    """Integers clamped to the range of a signed number of `bits` bits (1 to 63), as int64.

    >>> saturate([200, -200, 5], 8)
    array([ 127, -128,    5])
    """
    half = 1 << (bits - 1)
    return np.clip(np.asarray(x, dtype=np.int64), -half, half - 1)


def relu(x: ArrayLike) -> IntArray:
    """Negative elements replaced by 0; the type is kept.

    >>> relu(np.array([-3, 0, 3], np.int8))
    array([0, 0, 3], dtype=int8)
    """
    values = np.asarray(x)
    return np.maximum(values, values.dtype.type(0))


def exact_matmul(a: ArrayLike, b: ArrayLike) -> NDArray[np.int64]:
    """The integer product ``a @ b`` without rounding or wrapping, as int64.

    `a` is (..., m, k) and `b` (..., k, n), of any integer types.  Where no partial sum can reach
    2^53, the product runs in float64, which is exact there and fast.  Raises `OverflowError` when
    an element does not fit int64.

    >>> exact_matmul(np.full((1, 2), -128, np.int8), np.full((2, 1), 255, np.uint8))
    array([[-65280]])
    """
    left, right = np.asarray(a), np.asarray(b)
    bound = _magnitude(left) * _magnitude(right) * max(1, left.shape[-1])
    if bound < _EXACT_FLOAT:
        return (left.astype(np.float64) @ right.astype(np.float64)).astype(np.int64)
    if bound < _EXACT_INT:
        return left.astype(np.int64) @ right.astype(np.int64)
    return (left.astype(object) @ right.astype(object)).astype(np.int64)


def _magnitude(x: IntArray) -> int:
    """A bound of the absolute values in `x`; small types answer without looking."""
    if not np.issubdtype(x.dtype, np.integer):
        raise TypeError(f"exact_matmul: {x.dtype} is not an integer type")
    if x.dtype.itemsize <= 2:
        return max(-int(np.iinfo(x.dtype).min), int(np.iinfo(x.dtype).max))
    return max(-int(x.min(initial=0)), int(x.max(initial=0)))


def _output_type(low: int, high: int) -> type[np.integer[Any]]:
    """The smallest integer type that holds ``low..high``."""
    for candidate in _OUTPUTS:
        info = np.iinfo(candidate)
        if info.min <= low <= high <= info.max:
            return candidate
    raise ValueError(f"requantize: {low}..{high} is not a range of an integer type")
