"""Steps of activations: what 1 in an integer stands for, by one of four criteria.

`error` takes the least squared error; `percentile` leaves out one element in ten thousand;
`entropy` loses the least information (Kullback and Leibler's divergence from the histogram), as
TensorRT does ("8-bit Inference with TensorRT", Migacz, GTC 2017); `minmax` clips nothing.  And how
far scores of attention reach, whose step is always the same.
"""

from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from celosia.isa.numerics import EXPONENT_FRACTION_BITS, INT16_MAX, SCORE_BITS, dither
from celosia.isa.numerics.exponential import NUMERATOR_MAX, NUMERATOR_SHIFT
from celosia.sw.reference.encoder import Floats

__all__ = [
    "CLIPS",
    "INT8_LARGEST",
    "INT16_HEADROOM",
    "SCORES_LIMIT",
    "STORED_KEYS",
    "Clip",
    "ScoreRange",
    "best_step",
    "column_ranges",
    "int8_step",
    "int16_step",
    "largest",
    "least_error",
    "said_step",
    "sample_rows",
    "top_of",
]

Clip = Literal["error", "minmax", "percentile", "entropy"]
CLIPS: Final[tuple[Clip, ...]] = get_args(Clip)


INT8_LARGEST: Final = 127
"""The largest number of symmetric int8: -128 is not used."""

STORED_KEYS: Final = 256
"""Rows of no more keys are on the chip as a whole: nothing is gained by scores that may wait, and
little by dithered numerators."""

SCORES_LIMIT: Final = 2.0 ** (SCORE_BITS - 1 - EXPONENT_FRACTION_BITS)
"""The real number at which scores saturate that do not wait in memory."""
_STORED_LIMIT: Final = (INT16_MAX + 1) / 2.0**EXPONENT_FRACTION_BITS
_ABOVE: Final = 8
"""How far the largest score must be from the end of int16: runs may go beyond the calibration."""
_BELOW: Final = 20
"""How far a row's maximum must be from the other end, where hidden keys are: exp(-20) is 0."""

_DITHER_GAIN: Final = 10 ** (1 / 10)
"""How many times the squared error of dithered numerators that of others must be: 1 dB."""
_DITHER_LIMIT: Final = 10 ** (30 / 10)
"""How many times the squared error of numerators contexts have, where it is no matter: 30 dB."""

_INT16_LARGEST: Final = 32767
INT16_HEADROOM: Final = 1.5
"""An int16 holds this many times the largest element of the calibration."""
_CLIPS: Final = np.geomspace(1.0, 0.25, 13)
"""Fractions of the largest magnitude at which clipping is tried."""
_ELEMENTS: Final = 1 << 17
"""Rounding is looked at in rows of about so many elements; clipping, which is rare, in all."""
_DEVIATIONS: Final = 4.0
"""Where one normal number in 16,000 is beyond."""
_SEED: Final = 0x5EED
_PERCENTILE: Final = 99.99
_BINS: Final = 2048
_LEVELS: Final = INT8_LARGEST + 1
_STRIDE: Final = 16
"""Limits are tried at every so many bins."""
_LEAST: Final = 1e-12
_NOTHING: Final = 1e-15
"""Magnitudes below it are zeros."""


def largest(x: Floats) -> float:
    """The largest magnitude of an element of `x`; 0 where all are nothing for an integer.

    The product of two steps is a scale, and has to be a float32.
    """
    found = float(np.abs(x).max(initial=0))
    return found if found >= _NOTHING else 0.0


def column_ranges(x: Floats) -> Floats:
    """The largest magnitude of each column, or what that of many more rows would be."""
    if not len(x):
        return np.zeros(x.shape[1], np.float32)
    usual = np.abs(x.mean(axis=0)) + np.float32(_DEVIATIONS) * x.std(axis=0)
    return np.maximum(np.abs(x).max(axis=0), usual)


def int16_step(x: Floats) -> float:
    """The step of int16 for values like `x`, with room for larger ones."""
    return (largest(x) * INT16_HEADROOM or 1.0) / _INT16_LARGEST


def sample_rows(x: Floats, count: int) -> Floats:
    """The rows of `x`, or `count` of them: of as many rows always the same ones."""
    if len(x) <= count:
        return x
    return x[np.random.default_rng(_SEED).choice(len(x), count, replace=False)]


def best_step(x: Floats, worth: Floats | None = None) -> float:
    """The step of symmetric int8 with the least squared error on `x`, rows of columns.

    `worth` is what a squared error counts in each column; None: the same in all.  It is that of
    ``x @ w``, if errors of columns are independent, for the squared norms of the rows of `w`.
    """
    return least_error(x, worth)[0]


def least_error(x: Floats, worth: Floats | None = None) -> tuple[float, float]:
    """The step that `best_step` finds, and the squared error of a row with it."""
    top = largest(x)
    if top == 0:
        return 1.0, 0.0
    x = x.reshape(-1, x.shape[-1]) if x.ndim > 1 else x[:, np.newaxis]
    counts = np.ones(x.shape[-1], np.float32) if worth is None else worth
    size = np.abs(x)
    rows, flat = sample_rows(size, _ELEMENTS // max(x.shape[1], 1) + 1), size.reshape(-1)
    places = np.flatnonzero(flat > top * _CLIPS[-1])
    large, counted = flat[places], counts[places % x.shape[1]]
    found = []
    # New memory for each step of the arithmetic would take as long as that does.
    whole, lost = np.empty_like(rows), np.empty_like(rows)
    for clip in _CLIPS:
        beyond = np.maximum(large - np.float32(top * clip), 0)
        clipping = np.square(beyond) @ counted / len(x)
        # It grows with each step that is tried, and roundings only add to it.
        if found and clipping > min(found)[0]:
            break
        step = top * float(clip) / INT8_LARGEST
        np.minimum(np.multiply(rows, np.float32(1 / step), out=whole), INT8_LARGEST, out=whole)
        np.subtract(np.rint(whole, out=lost), whole, out=lost)
        rounding = np.square(lost, out=lost).sum(axis=0) @ counts
        found.append((float(rounding * step**2 / len(rows) + clipping), step))
    error, step = min(found)
    return step, error


def int8_step(x: Floats, clip: Clip, worth: Floats | None = None) -> float:
    """The step of symmetric int8; `worth` is what errors of a column count by `error`."""
    if clip == "error":
        return best_step(x, worth)
    return ((largest(x) and top_of(x, clip)) or 1.0) / INT8_LARGEST


def top_of(x: Floats, clip: Clip) -> float:
    """The magnitude at which `x` is clipped, by a criterion other than `error`."""
    if not x.size:
        return 0.0
    if clip == "percentile":
        return float(np.percentile(np.abs(x), _PERCENTILE, method="higher")) or largest(x)
    return _least_divergent(np.abs(x)) if clip == "entropy" else largest(x)


def _least_divergent(sizes: Floats) -> float:
    """The limit with the least divergence of its levels from the histogram of magnitudes."""
    top = float(sizes.max(initial=0))
    if top == 0:
        return 0.0
    counts, edges = np.histogram(sizes, _BINS, (0, top))
    ends = range(_LEVELS, _BINS + 1, _STRIDE)
    return float(edges[min(ends, key=lambda end: _divergence(counts.astype(np.float64), end))])


def _divergence(counts: NDArray[np.float64], end: int) -> float:
    """What is lost if `counts` before the bin `end` become levels, and all others the last one."""
    kept = counts[:end]
    levels = np.arange(end) * _LEVELS // end
    filled = kept > 0
    each = np.bincount(levels, kept, _LEVELS) / np.maximum(np.bincount(levels, filled, _LEVELS), 1)
    found = np.where(filled, each[levels], 0)
    wanted = kept.copy()
    wanted[-1] += counts[end:].sum()
    p = wanted / wanted.sum()
    q = found / max(found.sum(), _LEAST)
    present = p > 0
    return float(np.sum(p[present] * np.log(p[present] / np.maximum(q[present], _LEAST))))


def said_step(said: tuple[float, float]) -> float:
    """The step of symmetric int8 that has all of a range that a file says."""
    return (max(np.abs(said)) or 1.0) / INT8_LARGEST


@dataclass
class ScoreRange:
    """What rows of scores are like, as real numbers."""

    least: float = np.inf
    """The least maximum of a row."""
    most: float = -np.inf
    """The greatest maximum of a row."""
    contexts: float = 0.0
    """The squares of what long rows weigh."""
    rounded: float = 0.0
    """The squared errors of that by numerators that are rounded half up."""
    dithered: float = 0.0
    """The same by dithered ones."""

    def take(self, scores: NDArray[Any], weighed: NDArray[Any]) -> None:
        """Look at rows of scores (rows x keys), -inf where a key is hidden, and at keys' values."""
        maxima = scores.max(axis=-1, initial=-np.inf)
        maxima = maxima[np.isfinite(maxima)]
        self.least = min(self.least, float(maxima.min(initial=np.inf)))
        self.most = max(self.most, float(maxima.max(initial=-np.inf)))
        keys = scores.shape[-1]
        if keys > STORED_KEYS:
            top = np.maximum(scores.max(axis=-1, keepdims=True), np.finfo(np.float32).min)
            shares = np.exp(scores - top)
            context = _weighed(shares, weighed)
            self.contexts += float(np.square(context).sum())
            by_key = (dither(keys) / 2.0**NUMERATOR_SHIFT).astype(np.float32)
            lost = (context - _weighed(_numerators(shares, by), weighed) for by in (0.5, by_key))
            rounded, dithered = (float(np.square(each).sum()) for each in lost)
            self.rounded += rounded
            self.dithered += dithered

    @property
    def may_wait(self) -> bool:
        """Whether scores that wait in memory as int16 lose nothing: of none, nothing is known."""
        return -_STORED_LIMIT + _BELOW <= self.least <= self.most <= _STORED_LIMIT - _ABOVE

    @property
    def gains_by_dither(self) -> bool:
        """Whether numerators of long rows cost more than bytes do elsewhere, and less if dithered.

        Above `_DITHER_LIMIT`, queries and keys of eight bits lose more.
        """
        counts = self.rounded * _DITHER_LIMIT > self.contexts
        return counts and self.dithered * _DITHER_GAIN < self.rounded

    @property
    def saturates(self) -> bool:
        """Whether a row's maximum is beyond what scores can be."""
        return max(-self.least, self.most) >= SCORES_LIMIT


def _numerators(shares: Floats, added: Floats | float) -> Floats:
    """Shares of 1 at most as 0 to 255, cut behind what is `added` to each."""
    cut = np.floor(shares * np.float32(NUMERATOR_MAX) + np.float32(added))
    return np.minimum(cut, np.float32(NUMERATOR_MAX))


def _weighed(weights: Floats, values: Floats) -> Floats:
    """The means of `values` (keys x columns) by rows of `weights`; 0 where none counts."""
    return weights @ values / np.maximum(weights.sum(axis=-1, keepdims=True), np.float32(1))
