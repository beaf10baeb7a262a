"""What each function of TRANSFORM computes: results from operands, and the statistics it leaves.

Every function takes `Operands` and returns its results, each ``rows`` x ``cols``.  The arithmetic
is that of `celosia.isa.numerics`; here it meets the registers, which wrap.
"""

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa import numerics
from celosia.isa.functions.operands import Array, Operands, Statistics
from celosia.isa.numerics import INT32_MIN
from celosia.isa.numerics.activation import Curve
from celosia.isa.numerics.exponential import exponent_constants
from celosia.isa.numerics.normalization import MEAN_BITS

__all__ = [
    "Meaning",
    "Results",
    "context",
    "curve",
    "exponent",
    "layernorm",
    "maximum",
    "moments",
    "multiply",
    "probability",
    "requantize",
    "residual",
    "rotate",
    "total",
]

Results = tuple[Array, ...]
Meaning = Callable[[Operands], Results]

_INT16: Final = np.dtype(np.int16)
_INT32: Final = np.dtype(np.int32)
_RECIPROCAL: Final = (1 << 32) - 1
_SQUARES: Final = (1 << 48) - 1


def requantize(o: Operands) -> Results:
    """`x` to another type; int32 stays as it is."""
    return (_requantized(o, o.x),)


def context(o: Operands) -> Results:
    """A product with numerators over the sums of these, requantized."""
    return (_requantized(o, numerics.context(o.x, o.slots.reciprocal)),)


def curve(of: Curve) -> Meaning:
    """The meaning of a function that scales to int16, takes the curve `of` that, and scales it."""

    def meaning(o: Operands) -> Results:
        raw = of.raw(numerics.requantize_to(o.x, o.scale, np.int16), o.constants)
        return (numerics.requantize_to(raw, o.scale2, o.kind, zero_point=o.zero_point),)

    return meaning


def residual(o: Operands) -> Results:
    """`x` plus the residual stream, which may count as moments."""
    assert o.residual is not None
    result = numerics.residual_add(o.x, o.scale, o.residual, o.scale2)
    if o.moments:
        _count_moments(o, result)
    return (result,)


def multiply(o: Operands) -> Results:
    """`x` times the int16 beside it, requantized."""
    assert o.residual is not None
    return (numerics.multiply(o.x, o.residual, o.scale2, o.kind, zero_point=o.zero_point),)


def rotate(o: Operands) -> Results:
    """`x` turned by the cosines and sines beside it, requantized."""
    assert o.residual is not None
    return (numerics.rotate(o.x, o.residual, o.scale2, o.kind, zero_point=o.zero_point),)


def moments(o: Operands) -> Results:
    """The sums of elements and of their squares."""
    _count_moments(o, o.x)
    return ()


def layernorm(o: Operands) -> Results:
    """Distances from the mean over the root, by gamma and beta: one or two results."""
    y = numerics.normalize_by(o.x, o.slots.mean, o.slots.reciprocal)
    return tuple(affine(y) for affine in o.affines)


def maximum(o: Operands) -> Results:
    """The largest visible score of each row."""
    scores = o.x if o.visible is None else np.where(o.visible, o.x, INT32_MIN)
    largest, slots = scores.max(axis=1), o.slots
    slots.maximum[:] = largest if o.start else np.maximum(largest, slots.maximum)
    return ()


def total(o: Operands) -> Results:
    """The sum of the exponents of each row."""
    _count_total(o, _exponents(o)[0])
    return ()


def exponent(o: Operands) -> Results:
    """The numerators of a deferred softmax, and their sum."""
    return _numerators(o, dithered=False)


def dithered_exponent(o: Operands) -> Results:
    """The same, rounded by their columns."""
    return _numerators(o, dithered=True)


def probability(o: Operands) -> Results:
    """Exponents over their sums."""
    return (numerics.probabilities(_exponents(o)[0], o.slots.reciprocal, o.kind),)


def _requantized(o: Operands, x: Array) -> Array:
    if o.kind == _INT32:
        return x
    return numerics.requantize_to(x, o.scale, o.kind, zero_point=o.zero_point, rectify=o.relu)


def _numerators(o: Operands, *, dithered: bool) -> Results:
    exponents, unit = _exponents(o)
    counted = numerics.numerators(exponents, unit, dithered=dithered)
    _count_total(o, counted)
    return (counted,)


def _exponents(o: Operands) -> tuple[NDArray[np.int64], int]:
    """The exponent of each visible score, others 0; and what makes numerators of them."""
    constants, unit = exponent_constants(o.constants)
    scaled = o.x.dtype == _INT16
    stored = o.stored or scaled
    top = numerics.attention_scores(o.slots.maximum, o.scale, stored=stored).astype(np.int32)
    q = o.x if scaled else numerics.attention_scores(o.x, o.scale, stored=stored)
    distances = np.minimum(q.astype(np.int32) - top[:, np.newaxis], 0)
    exponents = numerics.exponent(distances, constants).astype(np.int64)
    return exponents if o.visible is None else np.where(o.visible, exponents, 0), unit


def _count_total(o: Operands, counted: Array) -> None:
    slots = o.slots
    before = 0 if o.start else slots.total
    slots.total[:] = (counted.sum(axis=1, dtype=np.int64) + before).astype(np.int32)
    if o.finish:
        divisors = np.maximum(slots.total.view(np.uint32), 1)
        slots.reciprocal[:] = numerics.reciprocal32(divisors) & _RECIPROCAL


def _count_moments(o: Operands, q: NDArray[np.int16]) -> None:
    slots, wide = o.slots, q.astype(np.int64)
    before, squares = (0, 0) if o.start else (slots.total, slots.squares)
    slots.total[:] = (wide.sum(axis=1) + before).astype(np.int32)
    slots.squares[:] = (wide * wide).sum(axis=1) + squares & _SQUARES
    if o.finish:
        _finish_moments(slots, o)


def _finish_moments(slots: Statistics, o: Operands) -> None:
    """As `numerics.row_statistics`, but in registers: sums that no row has wrap."""
    total, channels = slots.total.astype(np.int64), o.channels
    half = 1 << MEAN_BITS - 1
    mean = ((2 * total + channels) // (2 * channels) + half & 2 * half - 1) - half
    mean = np.zeros_like(mean) if o.rms else mean
    distances = slots.squares + o.epsilon - 2 * mean * total + channels * mean * mean & _SQUARES
    slots.mean[:] = mean
    slots.reciprocal[:] = numerics.reciprocal31(np.maximum(numerics.isqrt(distances), 1))
