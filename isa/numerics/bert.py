"""I-GELU, and softmax and layer normalization in passes, as Gemmini's MVOUT computes them.

All integers wrap at 32 bits.  Factors are float32 numbers.
"""

import math
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.isa.numerics.integers import wrap32

__all__ = [
    "inverse_deviation",
    "inverse_sum",
    "truncated_mean",
    "wrapped_exponential",
    "wrapped_gelu",
]

_PROBABILITY_ONE: Final = 127
_SHIFT: Final = 16
_MOST: Final = 31


def wrapped_gelu(x: ArrayLike, qb: int, qc: int) -> NDArray[np.int32]:
    """I-GELU of integers: ``x * (L + qc)`` with ``L = sign(x) * ((min(|x|, -qb) + qb)^2 + qc)``.

    >>> wrapped_gelu([-100, 0, 10], -40, -1700)
    array([     0,      0, -25000], dtype=int32)
    """
    values = np.asarray(x, np.int64)
    q = np.minimum(wrap32(np.abs(values)), wrap32(-qb)).astype(np.int64)
    square = wrap32(wrap32(q + qb).astype(np.int64) ** 2 + qc).astype(np.int64)
    curve = wrap32(np.where(values < 0, -square, square).astype(np.int64) + qc)
    return _product(values, curve)


def wrapped_exponential(
    q: ArrayLike, qb: int, qc: int, ln2: int, ln2_inverse: int
) -> NDArray[np.int32]:
    """The exponential of integers of at most 0: ``((q + z*ln2 + qb)^2 + qc) >> z``.

    ``z = (-q * ln2_inverse) >> 16`` counts as 0 where it is negative, and as 31 from there on.

    >>> wrapped_exponential([0, -14, -100], 28, 140, 14, 4681)
    array([924, 336,   6], dtype=int32)
    """
    values = wrap32(q).astype(np.int64)
    places = _product(-values, ln2_inverse) >> _SHIFT
    base = wrap32(values + _product(places, ln2)).astype(np.int64)
    square = wrap32(wrap32(base + qb).astype(np.int64) ** 2 + qc)
    return square >> np.clip(places, 0, _MOST)


def truncated_mean(total: int, count: int) -> int:
    """``total / count`` toward zero.

    >>> truncated_mean(-7, 2)
    -3
    """
    return -(-total // count) if total < 0 else total // count


def inverse_deviation(squares: int, count: int, scale: np.float32) -> np.float32:
    """`scale` over the standard deviation: an integer, and 1 instead of 0.

    `squares` is the sum of the squares of `count` deviations.

    >>> float(inverse_deviation(1700, 4, np.float32(2)))
    0.10000000149011612
    """
    deviation = math.isqrt(max(0, squares) // count) or 1
    return _scaled(np.float32(1) / np.float32(deviation), scale)


def inverse_sum(total: int, scale: np.float32) -> np.float32:
    """`scale` times 127 over a sum, which counts as an infinity where that is 0.

    >>> float(inverse_sum(254, np.float32(1)))
    0.5
    """
    with np.errstate(divide="ignore"):
        return _scaled(np.float32(_PROBABILITY_ONE) / np.float32(total), scale)


def _scaled(factor: np.float32, scale: np.float32) -> np.float32:
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        return factor * scale


def _product(left: ArrayLike, right: ArrayLike | int) -> NDArray[np.int32]:
    """The product of two int32, modulo 2^32."""
    low = wrap32(left).astype(np.int64) * wrap32(right).astype(np.int64)
    return wrap32(low)
