"""GELU, by a quadratic for the error function."""

from dataclasses import dataclass
from math import sqrt
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from celosia.isa.numerics.integers import INT16_MAX, INT16_MIN, IntArray, check_range
from celosia.isa.numerics.scaling import requantize_to

__all__ = [
    "GELU",
    "GELU_FRACTION_BITS",
    "GELU_SCALE",
    "GeluConstants",
    "gelu",
    "raw_gelu",
]

GELU_FRACTION_BITS: Final = 10
"""Fraction bits of GELU's operand: 1024 is a real 1."""


@dataclass(frozen=True, kw_only=True)
class GeluConstants:
    """The numbers of the polynomial, with the literals of this project as defaults.

    With `a` the smaller of `b` and the absolute operand:
    ``erf + 1 = c + sign * (c - (b - a)**2) >> shift``.
    """

    b: int = 2562
    """1.769 * sqrt 2 with 10 fraction bits: from here on, the error function is 1."""
    c: int = 7261607
    shift: int = 9

    def __post_init__(self) -> None:
        check_range(self.b, 0, 1 << 15, "gelu: b")
        check_range(self.shift, 0, 31, "gelu: shift")
        check_range(self.c, self.b**2 // 2, (1 << 30) - 1, "gelu: c")
        check_range(2 * self.c >> self.shift, 0, (1 << 16) - 1, "gelu: 2 * c >> shift")


GELU: Final = GeluConstants()

GELU_SCALE: Final = 2.0**-10 * 0.2888 * (2.0**-10 / sqrt(2)) ** 2 * 2.0**9 / 2
"""The real value of a 1 from `raw_gelu`, with the default constants."""


def raw_gelu(q: ArrayLike, constants: GeluConstants = GELU) -> NDArray[np.int32]:
    """GELU of int16 with 10 fraction bits, as 31-bit integers with the scale `GELU_SCALE`.

    The error is at most .0183.  Widths: ``b - a`` 12 bits, ``c - (b - a)**2`` 23, ``erf + 1``
    15, the result 31 signed.

    >>> raw_gelu([-32768, -1024, 0, 1024, 32767])
    array([        0,  -4730880,         0,  24314880, 929435955], dtype=int32)
    """
    values = check_range(q, INT16_MIN, INT16_MAX, "gelu").astype(np.int32)
    rest = constants.b - np.minimum(np.abs(values), constants.b)
    y = constants.c - rest * rest
    return values * (np.where(values < 0, -y, y) + constants.c >> constants.shift)


def gelu(
    q: ArrayLike,
    scale: ArrayLike,
    kind: DTypeLike,
    *,
    zero_point: int = 0,
    constants: GeluConstants = GELU,
) -> IntArray:
    """`raw_gelu`, requantized: `scale`, `kind` and `zero_point` are those of `requantize_to`.

    >>> gelu([-1024, 0, 2048], GELU_SCALE / 0.02, np.uint8, zero_point=9)
    array([  1,   9, 107], dtype=uint8)
    """
    return requantize_to(raw_gelu(q, constants), scale, kind, zero_point=zero_point)
