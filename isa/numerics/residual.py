"""The sum of a product and of the residual stream, each with its scale."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.isa.numerics.integers import (
    INT16_MAX,
    INT16_MIN,
    INT32_MAX,
    INT32_MIN,
    check_range,
    saturate,
)
from celosia.isa.numerics.scaling import requantize_to

__all__ = ["residual_add"]


def residual_add(
    x: ArrayLike, x_scale: ArrayLike, stream: ArrayLike, stream_scale: ArrayLike
) -> NDArray[np.int16]:
    """Accumulator elements plus the int16 residual stream, as int16.

    Each term is requantized to int16 by its own scale, with its own rounding and saturation, and
    the sum of 17 bits saturates once more.

    >>> residual_add([100, 1 << 30, 1 << 30], 0.5, [-7, 1, -1], 1.0)
    array([   43, 32767, 32766], dtype=int16)
    """
    product = check_range(x, INT32_MIN, INT32_MAX, "residual: product")
    residual = check_range(stream, INT16_MIN, INT16_MAX, "residual: stream")
    first = requantize_to(product, x_scale, np.int16).astype(np.int32)
    second = requantize_to(residual, stream_scale, np.int16)
    return saturate(first + second, 16).astype(np.int16)
