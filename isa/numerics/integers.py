"""What every definition shares: formats, checks of operands, wrapping, saturation, rounding."""

from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

__all__ = [
    "INT8_MAX",
    "INT8_MIN",
    "INT16_MAX",
    "INT16_MIN",
    "INT32_MAX",
    "INT32_MIN",
    "MAX_COLUMNS",
    "IntArray",
    "check_columns",
    "check_format",
    "check_range",
    "nearest",
    "relu",
    "round_half_up",
    "round_shift",
    "saturate",
    "wrap32",
]

INT8_MIN: Final = -128
INT8_MAX: Final = 127
INT16_MIN: Final = -(1 << 15)
INT16_MAX: Final = (1 << 15) - 1
INT32_MIN: Final = -(1 << 31)
INT32_MAX: Final = (1 << 31) - 1

MAX_COLUMNS: Final = 4096
"""The longest row of a softmax or of a layer normalization."""

IntArray = NDArray[Any]
"""An array of any integer type."""


def check_range(x: ArrayLike, low: int, high: int, name: str) -> IntArray:
    """`x` as an array of integers; `name` says in an error what lies outside ``low..high``.

    A type that cannot hold anything else is not looked into.

    >>> check_range([1, 300], 0, 255, "softmax: scores")
    Traceback (most recent call last):
    ValueError: softmax: scores: 300 is not in 0..255
    """
    values = np.asarray(x)
    if not np.issubdtype(values.dtype, np.integer):
        raise TypeError(f"{name}: {values.dtype} is not an integer type")
    held = np.iinfo(values.dtype)
    if values.size and not low <= held.min <= held.max <= high:
        for extreme in (int(values.min()), int(values.max())):
            if not low <= extreme <= high:
                raise ValueError(f"{name}: {extreme} is not in {low}..{high}")
    return values


def nearest(x: ArrayLike, kind: DTypeLike, name: str) -> IntArray:
    """The integers nearest to `x`, ties to even, as an array of the integer type `kind`.

    Raises `ValueError` that begins with `name` if one of them does not fit: nothing wraps.

    >>> nearest([1.5, -32768.4], np.int16, "gamma")
    array([     2, -32768], dtype=int16)
    >>> nearest([32767.5], np.int16, "gamma")
    Traceback (most recent call last):
    ValueError: gamma: 32768.0 does not fit int16
    """
    target: np.dtype[Any] = np.dtype(kind)
    held, rounded = np.iinfo(target), np.rint(np.asarray(x))
    # One more than the largest integer is exact in every floating type; NaN is outside, too.
    outside = ~((rounded >= held.min) & (rounded < held.max + 1))
    if outside.any():
        raise ValueError(f"{name}: {rounded[outside][0]} does not fit {held.dtype}")
    return rounded.astype(kind)


def check_columns(x: IntArray, name: str) -> int:
    """The length of the rows of `x`, which is its last dimension: 1 to `MAX_COLUMNS`."""
    columns = x.shape[-1] if x.ndim else 0
    if not 1 <= columns <= MAX_COLUMNS:
        raise ValueError(f"{name}: {columns} columns are not in 1..{MAX_COLUMNS}")
    return columns


def check_format(kind: DTypeLike, allowed: tuple[DTypeLike, ...], name: str) -> np.dtype[Any]:
    """`kind` as a type; an error says that it is none of those `allowed`."""
    given = np.dtype(kind)
    if given not in allowed:
        names = ", ".join(str(np.dtype(one)) for one in allowed)
        raise ValueError(f"{name}: {given} is none of {names}")
    return given


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


def round_half_up(x: NDArray[np.int64], shift: int) -> NDArray[np.int64]:
    """``x / 2**shift`` to the nearest integer, halves upwards: add one half, then floor.

    `shift` is 0 to 62, and `x` is at least ``2**(shift - 1)`` below int64's largest number.

    >>> round_half_up(np.array([-6, -5, -2, 2, 5, 6]), 2)
    array([-1, -1,  0,  1,  1,  2])
    """
    return x + (1 << shift >> 1) >> shift


def round_shift(x: ArrayLike, shift: int) -> NDArray[np.int64]:
    """``x / 2**shift`` to the nearest integer, ties to even; `shift` is 0 to 62.

    >>> round_shift([-7, -6, -5, -2, 2, 5, 6, 7], 2)
    array([-2, -2, -1,  0,  0,  1,  2,  2])
    """
    values = np.asarray(x, np.int64)
    if not shift:
        return values.copy()
    half, kept = 1 << shift - 1, values >> shift
    rest = values - (kept << shift)
    return kept + ((rest > half) | ((rest == half) & (kept & 1 == 1)))
