"""`exp` of numbers that are not positive, by range reduction and a quadratic."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.isa.numerics.integers import INT32_MIN, check_range

__all__ = [
    "DISTANCE_MAX",
    "DITHER_COLUMNS",
    "EXPONENT",
    "EXPONENT_FRACTION_BITS",
    "NUMERATOR_MAX",
    "NUMERATOR_SHIFT",
    "QUOTIENT_MAX",
    "QUOTIENT_SHIFT",
    "ExponentConstants",
    "exponent",
    "exponent_constants",
]

EXPONENT_FRACTION_BITS: Final = 10
"""Fraction bits of the scores: 1024 is a real 1."""

NUMERATOR_MAX: Final = 255
"""The numerator of a row's maximum in a deferred softmax."""
NUMERATOR_SHIFT: Final = 24
DITHER_COLUMNS: Final = 16
"""Columns after which what dithered numerators are rounded by begins anew: a power of two."""

DISTANCE_MAX: Final = (1 << 16) - 1
"""The greatest distance from a row's maximum that counts as itself; greater ones count as it."""

QUOTIENT_SHIFT: Final = 24
"""Fraction bits of `ExponentConstants.inverse_ln2`."""
QUOTIENT_MAX: Final = 31
"""The most often that ln 2 may go into a distance."""

_RESULT_MAX: Final = (1 << 16) - 1
_CACHED: Final = 64


@dataclass(frozen=True, kw_only=True)
class ExponentConstants:
    """The numbers of the polynomial, with the literals of this project as defaults.

    With `d` the clamped distance: ``z = -d * inverse_ln2 >> 24``, ``r = d + z * ln2``,
    ``((r + b) * r + c >> shift) >> z``.
    """

    ln2: int = 710
    """ln 2 with 10 fraction bits."""
    inverse_ln2: int = 23630
    """2^24 / ln2, of 24 fraction bits."""
    b: int = 2772
    c: int = 2927745
    shift: int = 6
    lowest: int = -22009
    """What smaller distances are clamped to; its result is 0."""

    def __post_init__(self) -> None:
        """Every distance is tried: nothing may exceed the widths that `exponent` states."""
        check_range(self.lowest, -DISTANCE_MAX, 0, "exponent: lowest")
        check_range(self.inverse_ln2, 0, (1 << 15) - 1, "exponent: inverse_ln2")
        check_range(self.shift, 0, 31, "exponent: shift")
        d = np.arange(self.lowest, 1, dtype=np.int64)
        z = -d * self.inverse_ln2 >> QUOTIENT_SHIFT
        r = d + z * self.ln2
        p = (r + self.b) * r + self.c
        check_range(z, 0, QUOTIENT_MAX, "exponent: quotient")
        check_range(p, 0, (1 << 31) - 1, "exponent: polynomial")
        if not 1 <= self.one <= _RESULT_MAX:
            raise ValueError(f"exponent: exp(0) is {self.one}, not in 1..{_RESULT_MAX}")
        check_range((p >> self.shift) >> z, 0, self.one, "exponent: result")

    @property
    def one(self) -> int:
        """The result for 0, which is the largest: a real 1."""
        return self.c >> self.shift

    @property
    def unit(self) -> int:
        """What turns a result into a numerator, with `NUMERATOR_SHIFT` fraction bits."""
        return (NUMERATOR_MAX << NUMERATOR_SHIFT) // self.one


EXPONENT: Final = ExponentConstants()


def exponent(distance: ArrayLike, constants: ExponentConstants = EXPONENT) -> NDArray[np.uint16]:
    """``exp(distance / 1024)`` times 45746, for distances from the row's maximum: at most 0.

    The error is at most 1.93e-3 of 45746.  Widths: the clamped distance 16 bits signed, its
    product with `inverse_ln2` 30, `z` 5, `r` 11 signed, the polynomial 22, the result 16.

    >>> exponent([0, -1, -710, -1024, -22009, -(1 << 31)])
    array([45746, 45702, 22873, 16843,     0,     0], dtype=uint16)
    """
    values = check_range(distance, INT32_MIN, 0, "exponent: distance")
    d = np.maximum(values, constants.lowest).astype(np.int32)
    z = -d * constants.inverse_ln2 >> QUOTIENT_SHIFT
    r = d + z * constants.ln2
    p = (r + constants.b) * r + constants.c
    return np.asarray((p >> constants.shift) >> z, np.uint16)


def exponent_constants(fields: Mapping[str, int]) -> tuple[ExponentConstants, int]:
    """The constants that CONFIG_EXPONENT's `fields` set, and its `unit`; the defaults without any.

    >>> exponent_constants({}) == (EXPONENT, EXPONENT.unit)
    True
    """
    if not fields:
        return EXPONENT, EXPONENT.unit
    values = dict(fields)
    unit, lowest = values.pop("unit"), values.pop("lowest")
    return _checked_constants(lowest=-lowest, **values), unit


@lru_cache(_CACHED)
def _checked_constants(**values: int) -> ExponentConstants:
    """The constants, which try every distance when they are made."""
    return ExponentConstants(**values)
