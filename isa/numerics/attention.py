"""Softmax over the rows of a matrix of scores, its masks, and the product that follows it."""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from celosia.isa.numerics.exponential import (
    DITHER_COLUMNS,
    EXPONENT,
    NUMERATOR_MAX,
    NUMERATOR_SHIFT,
    ExponentConstants,
    exponent,
)
from celosia.isa.numerics.integers import (
    INT32_MAX,
    INT32_MIN,
    MAX_COLUMNS,
    IntArray,
    check_columns,
    check_format,
    check_range,
    round_half_up,
    wrap32,
)
from celosia.isa.numerics.roots import reciprocal32
from celosia.isa.numerics.scaling import requantize, requantize_to

__all__ = [
    "CONTEXT_FRACTION_BITS",
    "RECIPROCAL_BITS",
    "SCORE_BITS",
    "attention_scores",
    "causal_mask",
    "context",
    "deferred_context",
    "deferred_softmax",
    "dither",
    "numerators",
    "padding_mask",
    "probabilities",
    "softmax",
]

CONTEXT_FRACTION_BITS: Final = 16
"""What `deferred_context` adds to the product: its scale is that of the values over 2^16."""

RECIPROCAL_BITS: Final = 32
"""Fraction bits of the reciprocal of a row's sum."""

SCORE_BITS: Final = 24
"""Width of a score until its row's maximum is subtracted, in bits, signed."""

_SCORE_MAX: Final = (1 << SCORE_BITS - 1) - 1
_SCORE_MIN: Final = ~_SCORE_MAX


def attention_scores(
    x: ArrayLike, scale: ArrayLike, *, stored: bool = False
) -> NDArray[np.int32] | NDArray[np.int16]:
    """Raw int32 scores as softmax takes them: integers of `SCORE_BITS` with 10 fraction bits.

    `scale` is one positive finite float32.  Then requantization keeps the order, so that a row's
    maximum may be looked for among the raw scores.  With `stored`, they are int16, as scores that
    wait in memory are.

    >>> attention_scores([[-300, 5, 80_000, 1 << 30]], 0.5)
    array([[   -150,       2,   40000, 8388607]], dtype=int32)
    >>> attention_scores([[-300, 5, 80_000, 1 << 30]], 0.5, stored=True)
    array([[ -150,     2, 32767, 32767]], dtype=int16)
    """
    factor = np.asarray(scale, np.float32)
    if factor.ndim or not (np.isfinite(factor) and factor > 0):
        raise ValueError(f"softmax: scale {scale} is not one positive finite number")
    if stored:
        return requantize_to(x, factor, np.int16)
    return requantize(x, factor, low=_SCORE_MIN, high=_SCORE_MAX)


def softmax(
    scores: ArrayLike,
    kind: DTypeLike = np.uint8,
    mask: ArrayLike | None = None,
    constants: ExponentConstants = EXPONENT,
) -> IntArray:
    """Normalized probabilities of rows of `attention_scores`, which have 10 fraction bits.

    A real 1 is the largest number of `kind`: uint8, int8 or int16.  `mask` broadcasts to the
    scores and is true where a column takes part; the others are 0 and count nowhere, and a row
    without any is all 0.

    Widths up to 4,096 columns: sum 28 bits, reciprocal times 1 (of `kind`) 32 bits, product with
    an exponent 48.

    >>> softmax([[0, 0, -1024, -32768]])
    array([[108, 108,  40,   0]], dtype=uint8)
    >>> softmax([[9, 9, 0]], np.int16, mask=[[True, False, False]])
    array([[32767,     0,     0]], dtype=int16)
    """
    output = check_format(kind, (np.uint8, np.int8, np.int16), "softmax: type")
    exponents = _exponents(scores, mask, constants)
    total = np.maximum(exponents.sum(axis=-1), 1)
    return probabilities(exponents, reciprocal32(total), output)


def probabilities(exponents: ArrayLike, reciprocals: ArrayLike, kind: DTypeLike) -> IntArray:
    """Exponents (..., columns) over their sums, whose `reciprocal32` are (...,), as `kind`.

    >>> probabilities([[45746, 22873]], reciprocal32([68619]), np.uint8)
    array([[170,  85]], dtype=uint8)
    """
    output = check_format(kind, (np.uint8, np.int8, np.int16), "softmax: type")
    top = int(np.iinfo(output).max)
    factors = np.asarray(reciprocals, np.int64)[..., np.newaxis] * top
    products = np.asarray(exponents, np.int64) * factors
    return np.minimum(round_half_up(products, RECIPROCAL_BITS), top).astype(output)


def deferred_softmax(
    scores: ArrayLike,
    mask: ArrayLike | None = None,
    constants: ExponentConstants = EXPONENT,
    *,
    dithered: bool = False,
) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """The numerators of a softmax, a row's maximum being 255, and their sum for each row.

    `scores` and `mask` as for `softmax`, `dithered` as for `numerators`.  The sums have the shape
    of the scores without columns; a sum is at least 255, and 1 for a row without any column that
    takes part (20 bits at 4,096).

    >>> deferred_softmax([[0, 0, -1024, -32768]])
    (array([[255, 255,  94,   0]], dtype=uint8), array([604], dtype=int32))
    """
    exponents = _exponents(scores, mask, constants)
    bytes_ = numerators(exponents, constants.unit, dithered=dithered)
    totals = np.maximum(bytes_.sum(axis=-1, dtype=np.int64), 1)
    return bytes_, np.asarray(totals, np.int32)


def numerators(
    exponents: ArrayLike, unit: int = EXPONENT.unit, *, dithered: bool = False
) -> NDArray[np.uint8]:
    """Exponents (..., columns) as 0 to 255: times `unit`, which has 24 fraction bits, rounded.

    Halves are rounded up; `dithered`, what is added before a product is cut is not one half, but
    `dither` of its column, so that many small ones together lose nothing
    (docs/adr/0012-numerators-of-eight-bits.md).

    >>> numerators([45746, 22873, 90])
    array([255, 127,   1], dtype=uint8)
    >>> numerators([63] * 8, dithered=True)
    array([0, 0, 0, 1, 0, 1, 0, 1], dtype=uint8)
    """
    products = np.asarray(exponents, np.int64) * unit
    if dithered:
        rounded = products + dither(products.shape[-1]) >> NUMERATOR_SHIFT
    else:
        rounded = round_half_up(products, NUMERATOR_SHIFT)
    return np.minimum(rounded, NUMERATOR_MAX).astype(np.uint8)


def dither(columns: int) -> NDArray[np.int64]:
    """What is added to a product with `NUMERATOR_SHIFT` fraction bits, by its column.

    Ordered dithering in one dimension (Bayer, 1973): of each `DITHER_COLUMNS` columns, the number
    of a column with its bits reversed, and one half, over `DITHER_COLUMNS`.

    >>> dither(5) / 2**NUMERATOR_SHIFT
    array([0.03125, 0.53125, 0.28125, 0.78125, 0.15625])
    """
    bits = DITHER_COLUMNS.bit_length() - 1
    column = np.arange(columns) % DITHER_COLUMNS
    reverse = np.zeros(columns, np.int64)
    for bit in range(bits):
        reverse |= (column >> bit & 1) << bits - 1 - bit
    return 2 * reverse + 1 << NUMERATOR_SHIFT - bits - 1


def deferred_context(x: ArrayLike, totals: ArrayLike) -> NDArray[np.int32]:
    """The product of numerators and values over the sum of the numerators, with 16 more bits.

    `x` is (..., rows, columns) of int32 and `totals` (..., rows), at least 1.  ``x * reciprocal``,
    rounded half up from 32 to 16 fraction bits, modulo 2^32.  In attention ``abs(x)`` is at most
    ``128 * totals``, so the result has 24 bits, and its conversion to float32 is exact.

    The reciprocal is a register of 32 bits: that of 1, which only a fully masked row has, is 0.

    >>> deferred_context([[604 * 5, -604, 1]], [604])
    array([[327680, -65536,    109]], dtype=int32)
    """
    sums = check_range(totals, 1, INT32_MAX, "deferred_context: sum")
    return context(x, reciprocal32(sums) & (1 << RECIPROCAL_BITS) - 1)


def context(x: ArrayLike, reciprocals: ArrayLike) -> NDArray[np.int32]:
    """`deferred_context` of rows whose sums have these reciprocals, of 32 bits.

    >>> context([[-604, 1]], [7110872])
    array([[-65536,    109]], dtype=int32)
    """
    products = check_range(x, INT32_MIN, INT32_MAX, "deferred_context: product").astype(np.int64)
    factors = check_range(reciprocals, 0, (1 << RECIPROCAL_BITS) - 1, "context: reciprocal")
    scaled = products * factors.astype(np.int64)[..., np.newaxis]
    return wrap32(round_half_up(scaled, RECIPROCAL_BITS - CONTEXT_FRACTION_BITS))


def padding_mask(lengths: ArrayLike, columns: int) -> NDArray[np.bool_]:
    """Which of `columns` keys exist, for each of the `lengths`: the first so many.

    >>> padding_mask([3, 0], 4)
    array([[ True,  True,  True, False],
           [False, False, False, False]])
    """
    check_range(columns, 1, MAX_COLUMNS, "padding_mask: columns")
    valid = check_range(lengths, 0, columns, "padding_mask: length")
    return np.arange(columns) < valid[..., np.newaxis]


def causal_mask(
    rows: int, columns: int, first: int = 0, window: int | None = None, ring: int | None = None
) -> NDArray[np.bool_]:
    """Which keys a query sees that sees none after itself; `first` is the first row's position.

    Of a `window` it sees the last ones, its own among them.  Columns may be the places of a `ring`
    of so many keys: then `first` is one, too, and those behind it have the keys before place 0.

    >>> causal_mask(2, 4, first=1)
    array([[ True,  True, False, False],
           [ True,  True,  True, False]])
    >>> causal_mask(2, 4, first=2, window=2)
    array([[False,  True,  True, False],
           [False, False,  True,  True]])
    >>> causal_mask(2, 4, window=2, ring=4)
    array([[ True, False, False,  True],
           [ True,  True, False, False]])
    """
    check_range(rows, 1, INT32_MAX, "causal_mask: rows")
    check_range(columns, 1, MAX_COLUMNS, "causal_mask: columns")
    check_range(first, 0, INT32_MAX, "causal_mask: first")
    keys, last = np.arange(columns), np.arange(rows)[:, np.newaxis] + first
    seen = keys <= last
    if window is None:
        return seen
    check_range(window, 1, MAX_COLUMNS, "causal_mask: window")
    seen &= keys > last - window
    if ring is None:
        return seen
    check_range(ring, window, MAX_COLUMNS, "causal_mask: ring")
    return seen | (keys > last - window + ring)


def _exponents(
    scores: ArrayLike, mask: ArrayLike | None, constants: ExponentConstants
) -> NDArray[np.int64]:
    """`exponent` of each score's distance from its row's maximum, 0 where masked."""
    values = check_range(scores, _SCORE_MIN, _SCORE_MAX, "softmax: scores").astype(np.int32)
    check_columns(values, "softmax")
    if mask is None:
        distances = values - values.max(axis=-1, keepdims=True)
        return exponent(distances, constants).astype(np.int64)
    visible = _broadcast_mask(mask, values.shape)
    values = np.where(visible, values, _SCORE_MIN)
    distances = values - values.max(axis=-1, keepdims=True)
    return np.where(visible, exponent(distances, constants), 0).astype(np.int64)


def _broadcast_mask(mask: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    visible = np.asarray(mask)
    if visible.dtype != np.bool_:
        raise TypeError(f"softmax: mask: {visible.dtype} is not bool")
    try:
        return np.broadcast_to(visible, shape)
    except ValueError:
        message = f"softmax: a mask of {visible.shape} does not broadcast to scores of {shape}"
        raise ValueError(message) from None
