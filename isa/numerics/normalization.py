"""Layer and RMS normalization over rows of int16, with a scale and an offset per channel."""

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from celosia.isa.numerics.integers import (
    INT16_MAX,
    INT16_MIN,
    INT32_MAX,
    INT32_MIN,
    MAX_COLUMNS,
    IntArray,
    check_columns,
    check_format,
    check_range,
    round_half_up,
    saturate,
)
from celosia.isa.numerics.roots import isqrt, reciprocal31

__all__ = [
    "EPSILON_BITS",
    "MEAN_BITS",
    "NORMALIZED_BITS",
    "NORMALIZED_FRACTION_BITS",
    "RECIPROCAL_BITS",
    "Affine",
    "RowStatistics",
    "RowSums",
    "layernorm",
    "layernorm_pair",
    "normalize",
    "normalize_by",
    "rmsnorm",
    "row_statistics",
    "row_sums",
]

MEAN_BITS: Final = 17
"""Width of a row's mean, and of its elements' distances from that, in bits; signed."""

EPSILON_BITS: Final = 40
"""Width of what is added to the sum of squared distances, in bits; unsigned."""

NORMALIZED_FRACTION_BITS: Final = 16
NORMALIZED_BITS: Final = 18
"""Width of `normalize`'s results, in bits; signed."""

RECIPROCAL_BITS: Final = 31
"""Fraction bits of the reciprocal of a row's root."""

_SHIFT_MAX: Final = 31


class RowSums(NamedTuple):
    """What one pass over a row finds; sums of column blocks add up to those of the row."""

    total: NDArray[np.int64]
    """Sum of the elements: 28 bits signed at 4,096 columns."""
    squares: NDArray[np.int64]
    """Sum of their squares: at most 2^42."""


class RowStatistics(NamedTuple):
    """What a row is normalized with."""

    mean: NDArray[np.int64]
    """Mean of each row, rounded to an integer, halves upwards: 16 bits, signed.  Or 0."""
    root: NDArray[np.int64]
    """Root of the sum of squared distances from that and of epsilon, at least 1: 22 bits, unsigned.
    """


@dataclass(frozen=True, eq=False)
class Affine:
    """One output of a layer normalization: ``saturate(round((y * gamma + beta) / 2**shift))``.

    `gamma` holds int16 and `beta` int32, one for each channel; `shift` is 0 to 31; `kind` is int8
    or int16.  Halves are rounded upwards.
    """

    gamma: ArrayLike
    beta: ArrayLike
    shift: int
    kind: DTypeLike

    def __post_init__(self) -> None:
        gamma = check_range(self.gamma, INT16_MIN, INT16_MAX, "layernorm: gamma")
        beta = check_range(self.beta, INT32_MIN, INT32_MAX, "layernorm: beta")
        check_range(self.shift, 0, _SHIFT_MAX, "layernorm: shift")
        check_format(self.kind, (np.int8, np.int16), "layernorm: type")
        if gamma.ndim != 1 or gamma.shape != beta.shape:
            raise ValueError(
                f"layernorm: gamma of {gamma.shape} and beta of {beta.shape} are not vectors of"
                " one length"
            )

    def __call__(self, y: NDArray[np.int32]) -> IntArray:
        """The output for normalized rows.  ``y * gamma + beta`` has 33 bits signed."""
        gamma, beta = np.asarray(self.gamma, np.int64), np.asarray(self.beta, np.int64)
        if y.shape[-1:] != gamma.shape:
            raise ValueError(
                f"layernorm: rows of {y.shape[-1]} columns, but gamma has {gamma.size}"
            )
        output = np.dtype(self.kind)
        scaled = round_half_up(y * gamma + beta, self.shift)
        return saturate(scaled, 8 * output.itemsize).astype(output)


def row_sums(q: ArrayLike) -> RowSums:
    """The sums over the last dimension of `q`, int16; of a whole row or of a block of columns.

    >>> row_sums([[3, 4, -1]])
    RowSums(total=array([6]), squares=array([26]))
    """
    values = check_range(q, INT16_MIN, INT16_MAX, "layernorm").astype(np.int64)
    check_columns(values, "layernorm")
    return RowSums(values.sum(axis=-1), (values * values).sum(axis=-1))


def row_statistics(
    sums: RowSums, columns: int, *, epsilon: int = 0, rms: bool = False
) -> RowStatistics:
    """Mean and root of rows of `columns` elements, from their sums alone.

    ``mean = floor((2 * total + n) / 2n)``, and the sum of squared distances is exactly
    ``squares - 2 * mean * total + n * mean**2``: at most 2^42 for every row.  With `rms` the mean
    is 0, and the sum that of the squares.  `epsilon`, 40 bits unsigned, is added to it: 43 bits.
    `ValueError` for sums that no row of so many int16 has.

    >>> row_statistics(RowSums(np.array([6]), np.array([26])), 3)
    RowStatistics(mean=array([2]), root=array([3]))
    """
    check_range(columns, 1, MAX_COLUMNS, "layernorm: columns")
    check_range(epsilon, 0, (1 << EPSILON_BITS) - 1, "layernorm: epsilon")
    low, high = columns * INT16_MIN, columns * INT16_MAX
    total = check_range(sums.total, low, high, "layernorm: sum").astype(np.int64)
    most = columns * INT16_MIN**2
    squares = check_range(sums.squares, 0, most, "layernorm: sum of squares").astype(np.int64)
    mean = np.zeros_like(total) if rms else (2 * total + columns) // (2 * columns)
    distances = squares - 2 * mean * total + columns * mean * mean
    check_range(distances, 0, most, "layernorm: sum of squared distances")
    return RowStatistics(mean, np.maximum(isqrt(distances + epsilon), 1))


def normalize(q: ArrayLike, statistics: RowStatistics) -> NDArray[np.int32]:
    """Distances from the mean over the root, with 16 fraction bits: -65536 to 65536.

    Widths: the distance 17 bits signed, the reciprocal 32, their product 33 signed (a distance is
    no greater than the root, so it stays within 2^31).

    >>> normalize([[3, 4, -1]], row_statistics(row_sums([[3, 4, -1]]), 3))
    array([[ 21845,  43691, -65536]], dtype=int32)
    """
    return normalize_by(q, statistics.mean, reciprocal31(statistics.root))


def normalize_by(q: ArrayLike, mean: ArrayLike, reciprocals: ArrayLike) -> NDArray[np.int32]:
    """`normalize` by the `reciprocal31` of the rows' roots; the result wraps at 18 bits.

    Results by a row's own mean and root never wrap.

    >>> normalize_by([[3, 4, -1]], [2], [1 << 30])
    array([[ 32768,  65536, -98304]], dtype=int32)
    """
    values = check_range(q, INT16_MIN, INT16_MAX, "layernorm").astype(np.int64)
    distances = values - np.asarray(mean, np.int64)[..., np.newaxis]
    products = distances * np.asarray(reciprocals, np.int64)[..., np.newaxis]
    rounded = round_half_up(products, RECIPROCAL_BITS - NORMALIZED_FRACTION_BITS)
    half = 1 << NORMALIZED_BITS - 1
    return ((rounded + half & 2 * half - 1) - half).astype(np.int32)


def layernorm(q: ArrayLike, output: Affine, *, epsilon: int = 0) -> IntArray:
    """Layer normalization of rows of int16, of any scale; `epsilon` as for `row_statistics`.

    >>> layernorm([[3, 4, -1]], Affine([1000, 1000, -2], [0, 1 << 20, 0], 20, np.int8))
    array([[21, 43,  0]], dtype=int8)
    """
    return output(_normalized(q, epsilon))


def rmsnorm(q: ArrayLike, output: Affine, *, epsilon: int = 0) -> IntArray:
    """Rows of int16 over the root of the mean of their squares; otherwise as `layernorm`.

    >>> rmsnorm([[3, 4, -1]], Affine([1000, 1000, -2], [0, 1 << 20, 0], 20, np.int8))
    array([[38, 51,  0]], dtype=int8)
    """
    return output(_normalized(q, epsilon, rms=True))


def layernorm_pair(
    q: ArrayLike, first: Affine, second: Affine, *, epsilon: int = 0, rms: bool = False
) -> tuple[IntArray, IntArray]:
    """Two outputs of one normalization, each with its own constants and type.

    >>> small, wide = Affine([9], [0], 3, np.int8), Affine([9], [7], 0, np.int16)
    >>> layernorm_pair([[5]], small, wide)
    (array([[0]], dtype=int8), array([[7]], dtype=int16))
    """
    y = _normalized(q, epsilon, rms=rms)
    return first(y), second(y)


def _normalized(q: ArrayLike, epsilon: int, *, rms: bool = False) -> NDArray[np.int32]:
    values = np.asarray(q)
    columns = values.shape[-1] if values.ndim else 0
    statistics = row_statistics(row_sums(values), columns, epsilon=epsilon, rms=rms)
    return normalize(values, statistics)
