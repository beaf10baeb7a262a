"""Two int4 in a byte: how lines of weights are packed into rows."""

from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["INT4_MAX", "INT4_MIN", "pack_int4", "unpack_int4"]

_BITS: Final = 4
INT4_MIN: Final = -(1 << _BITS - 1)
INT4_MAX: Final = -INT4_MIN - 1


def pack_int4(lines: ArrayLike) -> NDArray[np.int8]:
    """Lines of int4 as half as many lines of bytes: of n, line i and above it line i + n/2.

    `lines` is (..., n, columns) of any integer type; the result is (..., n/2, columns).  Line i has
    the lower four bits of each byte, two's complement.  Raises `ValueError` that names an odd
    number of lines, or the first value that is not in -8..7.

    >>> pack_int4([[1, -1], [7, -8]])
    array([[ 113, -113]], dtype=int8)
    """
    whole = np.asarray(lines)
    count = whole.shape[-2]
    if count % 2:
        raise ValueError(f"{count} lines of int4: they are packed in pairs, so make them even")
    wrong = whole[(whole < INT4_MIN) | (whole > INT4_MAX)]
    if wrong.size:
        raise ValueError(f"{wrong[0]} is no int4: values are {INT4_MIN} to {INT4_MAX}")
    low, high = np.split(whole.astype(np.int8), 2, axis=-2)
    return (low & 0xF) | (high << _BITS)


def unpack_int4(rows: NDArray[Any]) -> NDArray[np.int8]:
    """The inverse of `pack_int4`: (..., n, columns) bytes as int8, (..., 2n, columns).

    >>> unpack_int4(np.array([[113, -113]], np.int8))
    array([[ 1, -1],
           [ 7, -8]], dtype=int8)
    """
    packed = rows.view(np.int8)
    return np.concatenate(((packed << _BITS) >> _BITS, packed >> _BITS), axis=-2)
