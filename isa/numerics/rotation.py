"""Rotary embeddings: pairs of int16 turned by the angle of their row's position."""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from celosia.isa.numerics.integers import (
    INT16_MAX,
    INT16_MIN,
    IntArray,
    check_range,
    round_half_up,
    saturate,
)
from celosia.isa.numerics.scaling import requantize_to

__all__ = ["ROTATION_FRACTION_BITS", "rotate"]

ROTATION_FRACTION_BITS: Final = 15
"""Fraction bits of cosines and sines; a 1 is 32767."""


def rotate(
    x: ArrayLike, table: ArrayLike, scale: ArrayLike, kind: DTypeLike, *, zero_point: int = 0
) -> IntArray:
    """Rows of int16 rotated, and requantized: `scale` and so on as for `requantize_to`.

    An even number of columns: the first half of a row of `x` are a, the second half b; those of
    `table` are cosines and sines.  The halves of the result are ``a * cos - b * sin`` and ``b * cos
    + a * sin``, each rounded half up and saturated to int16 before it is requantized.  Raises
    `ValueError` for rows that have no halves.

    >>> rotate([[100, -7]], [[0, 32767]], 1.0, np.int16)
    array([[  7, 100]], dtype=int16)
    """
    rows = check_range(x, INT16_MIN, INT16_MAX, "rotate").astype(np.int64)
    turns = check_range(table, INT16_MIN, INT16_MAX, "rotate: table").astype(np.int64)
    if rows.shape[-1] % 2:
        raise ValueError(f"rotate: {rows.shape[-1]} columns are not two halves")
    (a, b), (cos, sin) = (np.split(each, 2, axis=-1) for each in (rows, turns))
    turned = np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)
    rounded = saturate(round_half_up(turned, ROTATION_FRACTION_BITS), 16)
    return requantize_to(rounded, scale, kind, zero_point=zero_point)
