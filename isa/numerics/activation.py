"""Activation functions that are curves: integers of int16, by polynomials.

GELU has a quadratic for the error function.  SiLU has softmax's exponential, and straight lines
between the numbers of a table for the reciprocal behind it.  HardSwish is a quadratic itself.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import erf, sqrt, tanh
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from celosia.isa.numerics.exponential import (
    EXPONENT,
    ExponentConstants,
    exponent,
    exponent_constants,
)
from celosia.isa.numerics.integers import INT16_MAX, INT16_MIN, IntArray, check_range
from celosia.isa.numerics.scaling import requantize_to

__all__ = [
    "GELU",
    "GELU_CURVE",
    "GELU_FRACTION_BITS",
    "GELU_SCALE",
    "HARDSWISH_CURVE",
    "HARDSWISH_FRACTION_BITS",
    "HARDSWISH_SCALE",
    "HARDSWISH_THREE",
    "SIGMOIDS",
    "SIGMOID_ONE",
    "SIGMOID_STEP_BITS",
    "SILU_CURVE",
    "SILU_FRACTION_BITS",
    "SILU_SCALE",
    "Curve",
    "GeluConstants",
    "gelu",
    "raw_gelu",
    "raw_hardswish",
    "raw_silu",
]

GELU_FRACTION_BITS: Final = 10
"""Fraction bits of GELU's operand: 1024 is a real 1."""


@dataclass(frozen=True, kw_only=True)
class Curve:
    """A function of one real number, and what the lanes compute of it."""

    name: str
    """Its name as people write it."""
    real: Callable[[float], float]
    """The function itself."""
    raw: Callable[[ArrayLike, Mapping[str, int]], NDArray[np.int32]]
    """What the lanes make of int16, with the fields of the instruction that sets its constants;
    without fields: their defaults."""
    fraction_bits: int
    """Fraction bits of the operand."""
    unit: float
    """The real value of a 1 of `raw`, with the default constants."""
    least: float
    """Just below the least value of `real`."""


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


GELU_CURVE: Final = Curve(
    name="GELU",
    real=lambda x: x * (1 + erf(x / sqrt(2))) / 2,
    raw=lambda q, fields: raw_gelu(q, GeluConstants(**fields)),
    fraction_bits=GELU_FRACTION_BITS,
    unit=GELU_SCALE,
    least=-0.17,
)

SILU_FRACTION_BITS: Final = 10
"""Fraction bits of SiLU's operand with the default constants of the exponential."""
SIGMOID_ONE: Final = 1 << 16
"""A sigmoid of 1."""
SIGMOID_STEP_BITS: Final = 10
"""From one number of `SIGMOIDS` to the next, the exponential goes up by a power of two."""
SIGMOIDS: Final = tuple(
    (2 * SIGMOID_ONE * EXPONENT.one + divisor) // (2 * divisor)
    for divisor in range(EXPONENT.one, EXPONENT.one + (1 << 16) + 1, 1 << SIGMOID_STEP_BITS)
)
"""``1 / (1 + e)`` for exponentials ``e`` of 0, 1024, ..., 65536, of which `EXPONENT.one` is 1."""
SILU_SCALE: Final = 1 / (SIGMOID_ONE << SILU_FRACTION_BITS)
"""The real value of a 1 from `raw_silu`, with the default constants."""


def raw_silu(q: ArrayLike, constants: ExponentConstants = EXPONENT) -> NDArray[np.int32]:
    """SiLU of int16 with 10 fraction bits, as 32-bit integers with the scale `SILU_SCALE`.

    ``q * sigmoid(q)``, with ``1 / (1 + exp(-abs(q)))`` for the sigmoid of positive numbers and what
    is missing to 1 for that of negative ones.  The error is at most 7.9e-4.  Other constants keep
    the widths, but it is a sigmoid for those only whose ``one`` is that of the defaults.  Widths:
    the exponential 16 bits, a number of the table 17, what it falls to the next 11, their product
    21, the sigmoid 17, the result 32 signed.

    >>> raw_silu([-32768, -1024, 1024, 32767])
    array([         0,  -18056192,   49052672, 2147418112], dtype=int32)
    """
    values = check_range(q, INT16_MIN, INT16_MAX, "silu").astype(np.int32)
    exponents = exponent(-np.abs(values), constants).astype(np.int32)
    table = np.array(SIGMOIDS, np.int32)
    index, rest = exponents >> SIGMOID_STEP_BITS, exponents & (1 << SIGMOID_STEP_BITS) - 1
    left, right = table[index], table[index + 1]
    half = 1 << SIGMOID_STEP_BITS - 1
    sigmoid = left - ((left - right) * rest + half >> SIGMOID_STEP_BITS)
    return values * np.where(values < 0, SIGMOID_ONE - sigmoid, sigmoid)


SILU_CURVE: Final = Curve(
    name="SiLU",
    real=lambda x: x * (1 + tanh(x / 2)) / 2,
    raw=lambda q, fields: raw_silu(q, exponent_constants(fields)[0]),
    fraction_bits=SILU_FRACTION_BITS,
    unit=SILU_SCALE,
    least=-0.279,
)

HARDSWISH_FRACTION_BITS: Final = 10
"""Fraction bits of HardSwish's operand."""
HARDSWISH_THREE: Final = 3 << HARDSWISH_FRACTION_BITS
"""A real 3: from here on, HardSwish is its operand; from minus that down, it is 0."""
HARDSWISH_SCALE: Final = 1 / (2 * HARDSWISH_THREE << HARDSWISH_FRACTION_BITS)
"""The real value of a 1 from `raw_hardswish`: the division by 6 is left to it."""


def raw_hardswish(q: ArrayLike) -> NDArray[np.int32]:
    """HardSwish of int16 with 10 fraction bits, exactly: integers with the scale `HARDSWISH_SCALE`.

    ``q * relu6(q + 3)``.  Widths: the sum, from 0 to a real 6, 13 bits, the result 29 signed.

    >>> raw_hardswish([-32768, -1024, 0, 1024, 32767])
    array([        0,  -2097152,         0,   4194304, 201320448], dtype=int32)
    """
    values = check_range(q, INT16_MIN, INT16_MAX, "hardswish").astype(np.int32)
    return values * np.clip(values + HARDSWISH_THREE, 0, 2 * HARDSWISH_THREE)


HARDSWISH_CURVE: Final = Curve(
    name="HardSwish",
    real=lambda x: x * min(max(x + 3, 0), 6) / 6,
    raw=lambda q, _: raw_hardswish(q),
    fraction_bits=HARDSWISH_FRACTION_BITS,
    unit=HARDSWISH_SCALE,
    least=-0.3751,
)
