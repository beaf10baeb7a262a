"""Requantization: the way from the accumulator to a narrower format."""

from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from celosia.isa.numerics.float32 import INFINITY, MANTISSA_BITS, SIGN
from celosia.isa.numerics.integers import (
    INT8_MAX,
    INT8_MIN,
    IntArray,
    check_format,
    check_range,
)

__all__ = [
    "long_scales",
    "mvin_scale",
    "requantize",
    "requantize_to",
    "round_scales",
    "scale_from_bits",
]

_OUTPUTS: Final = (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64)
_EXACT_FLOAT32: Final = 1 << MANTISSA_BITS


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

    Gemmini's `acc_scale` and `mvin_scale` are this function.

    >>> requantize([1, 3, 5, -1, 300, -300], 0.5)
    array([   0,    2,    2,    0,  127, -128], dtype=int8)
    >>> requantize([0, 7, -7], np.inf), requantize(7, np.nan)
    (array([   0,  127, -128], dtype=int8), np.int8(0))
    >>> requantize([[100, 100]], [0.5, 3.0], low=0, high=255)
    array([[ 50, 255]], dtype=uint8)
    """
    kind = _output_type(low, high)
    return _scaled(x, scale, low, high).astype(kind)


def requantize_to(
    x: ArrayLike,
    scale: ArrayLike,
    kind: DTypeLike,
    *,
    zero_point: int = 0,
    rectify: bool = False,
) -> IntArray:
    """Requantize to int8, int16, or uint8 with a zero point.

    ``saturate(max(round(float32(x) * scale), 0 if rectify) + zero_point)``: the zero point, 0 to
    255 and for uint8 only, is added to the rounded integer, and only the sum saturates.  `rectify`
    is ReLU of the real number, so it acts before the zero point.

    >>> requantize_to([-40, -10, 5, 600], 0.5, np.uint8, zero_point=17)
    array([  0,  12,  19, 255], dtype=uint8)
    >>> requantize_to([-40, -10, 5, 600], 0.5, np.uint8, zero_point=17, rectify=True)
    array([ 17,  17,  19, 255], dtype=uint8)
    >>> requantize_to([1 << 30, 3], np.float32(0.5), np.int16)
    array([32767,     2], dtype=int16)
    """
    output = check_format(kind, (np.int8, np.uint8, np.int16), "requantize: type")
    check_range(zero_point, 0, 255 if output == np.uint8 else 0, f"requantize: {output} zero point")
    bounds = np.iinfo(output)
    low = 0 if rectify else int(bounds.min) - zero_point
    return (_scaled(x, scale, low, int(bounds.max) - zero_point) + zero_point).astype(output)


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


def long_scales(scales: ArrayLike, mantissa_bits: int) -> NDArray[np.bool]:
    """Which float32 have bits of their mantissas behind the first `mantissa_bits`, 2 to 24.

    >>> long_scales([0.5, 1.0078125, 1.00390625, np.inf], 8)
    array([False, False,  True, False])
    """
    bits = np.asarray(scales, np.float32).view(np.uint32)
    return bits & np.uint32((1 << MANTISSA_BITS - mantissa_bits) - 1) != 0


def round_scales(scales: ArrayLike, mantissa_bits: int) -> NDArray[np.float32]:
    """Finite float32 to the nearest ones that are not `long_scales`, ties to even.

    What is beyond the largest of them becomes that one, and only 0 becomes 0: a positive scale
    stays positive.

    >>> round_scales([0.1, -1.00390625, 1.01171875], 8)
    array([ 0.10009766, -1.        ,  1.015625  ], dtype=float32)
    """
    bits = np.asarray(scales, np.float32).view(np.uint32).astype(np.int64)
    dropped = MANTISSA_BITS - mantissa_bits
    unit = 1 << dropped
    sign, size = bits & SIGN, bits & (SIGN - 1)
    half = (unit >> 1) - 1 + (size >> dropped & 1) if dropped else 0
    least = np.where(size > 0, unit, 0)
    size = np.clip((size + half) // unit * unit, least, INFINITY - unit)
    return np.asarray(sign | size, np.uint32).view(np.float32)


def _scaled(x: ArrayLike, scale: ArrayLike, low: int, high: int) -> NDArray[Any]:
    """The rounded products, saturated, still as floating-point numbers."""
    # float32 would round bounds beyond 24 bits; float64 holds those of int32.
    narrow = -_EXACT_FLOAT32 <= low <= high <= _EXACT_FLOAT32
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        factors = np.asarray(scale, dtype=np.float32)
        product = np.asarray(x).astype(np.float32) * factors
        whole = np.rint(product, dtype=np.float32 if narrow else np.float64)
    if not np.isfinite(factors).all():
        whole = np.where(np.isnan(whole), whole.dtype.type(0), whole)
    return np.clip(whole, low, high)


def _output_type(low: int, high: int) -> type[np.integer[Any]]:
    """The smallest integer type that holds ``low..high``."""
    for candidate in _OUTPUTS:
        info = np.iinfo(candidate)
        if info.min <= low <= high <= info.max:
            return candidate
    raise ValueError(f"requantize: {low}..{high} is not a range of an integer type")
