"""Integer square roots and reciprocals: one of each per row, shared by all of its columns."""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.isa.numerics.integers import check_range

__all__ = ["ISQRT_BITS", "isqrt", "reciprocal31", "reciprocal32", "reciprocal_float32"]

ISQRT_BITS: Final = 48
"""Width of the number whose root is taken."""

_DIVISOR_BITS: Final = 32
_FLOAT_DIVISOR_BITS: Final = 28


def isqrt(n: ArrayLike) -> NDArray[np.int64]:
    """The largest integer whose square is at most `n`, for `n` below 2^48.

    >>> isqrt([0, 3, 4, (1 << 48) - 1])
    array([       0,        1,        2, 16777215])
    """
    values = check_range(n, 0, (1 << ISQRT_BITS) - 1, "isqrt")
    # k^2 - 1 is the worst case: its root is 1 / 2k below k, and float64 resolves that to 52 bits.
    return np.asarray(np.floor(np.sqrt(values.astype(np.float64))), np.int64)


def reciprocal32(x: ArrayLike) -> NDArray[np.int64]:
    """``floor(2**32 / x)`` for `x` from 1 to 2^32 - 1: 33 bits at 1, 32 from 2 on.

    >>> reciprocal32([1, 255, 256])
    array([4294967296,   16843009,   16777216])
    """
    return (1 << 32) // _divisor(x, _DIVISOR_BITS, "reciprocal32")


def reciprocal31(x: ArrayLike) -> NDArray[np.int64]:
    """``floor(2**31 / x)`` for `x` from 1 to 2^32 - 1: at most 32 bits, 0 above 2^31.

    >>> reciprocal31([1, 3, (1 << 32) - 1])
    array([2147483648,  715827882,          0])
    """
    return (1 << 31) // _divisor(x, _DIVISOR_BITS, "reciprocal31")


def reciprocal_float32(x: ArrayLike) -> NDArray[np.float32]:
    """``1 / x`` to the nearest float32, for integers from 1 to 2^28 - 1.

    >>> reciprocal_float32(3).view(np.uint32) == 0x3EAA_AAAB
    np.True_
    """
    divisor = _divisor(x, _FLOAT_DIVISOR_BITS, "reciprocal_float32")
    # Rounding twice is safe: 1/x is no closer than 2^-52 (relatively) to a tie of float32, since
    # tie * x is an integer of at most 53 bits over a power of two.  float64 errs by 2^-53.
    return np.asarray(1.0 / divisor, np.float32)


def _divisor(x: ArrayLike, bits: int, name: str) -> NDArray[np.int64]:
    return check_range(x, 1, (1 << bits) - 1, name).astype(np.int64)
