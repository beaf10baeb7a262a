"""Steps of activations: what 1 in an integer stands for, so that the error is least."""

from typing import Final

import numpy as np

from celosia.sw.reference.encoder import Floats

__all__ = [
    "INT8_LARGEST",
    "best_step",
    "column_ranges",
    "int16_step",
    "largest",
    "least_error",
    "sample_rows",
]

INT8_LARGEST: Final = 127
"""The largest number of symmetric int8: -128 is not used."""

_INT16_LARGEST: Final = 32767
_HEADROOM: Final = 1.5
"""An int16 holds this many times the largest element of the calibration."""
_CLIPS: Final = np.geomspace(1.0, 0.25, 13)
"""Fractions of the largest magnitude at which clipping is tried."""
_ELEMENTS: Final = 1 << 17
"""Rounding is looked at in rows of about so many elements; clipping, which is rare, in all."""
_DEVIATIONS: Final = 4.0
"""Where one normal number in 16,000 is beyond."""
_SEED: Final = 0x5EED


def largest(x: Floats) -> float:
    """The largest magnitude of an element of `x`."""
    return float(np.abs(x).max(initial=0))


def column_ranges(x: Floats) -> Floats:
    """The largest magnitude of each column, or what that of many more rows would be."""
    if not len(x):
        return np.zeros(x.shape[1], np.float32)
    usual = np.abs(x.mean(axis=0)) + np.float32(_DEVIATIONS) * x.std(axis=0)
    return np.maximum(np.abs(x).max(axis=0), usual)


def int16_step(x: Floats) -> float:
    """The step of int16 for values like `x`, with room for larger ones."""
    return (largest(x) * _HEADROOM or 1.0) / _INT16_LARGEST


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
    rows = np.abs(sample_rows(x, _ELEMENTS // max(x.shape[1], 1) + 1))
    size = np.abs(x)
    places = np.nonzero(size > top * _CLIPS[-1])
    large, counted = size[places], counts[places[-1]]
    found = []
    for clip in _CLIPS:
        step = top * float(clip) / INT8_LARGEST
        whole = np.minimum(rows * np.float32(1 / step), INT8_LARGEST)
        rounding = np.square(np.rint(whole) - whole).sum(axis=0) @ counts
        clipping = np.square(np.maximum(large - np.float32(top * clip), 0)) @ counted
        found.append((float(rounding * step**2 / len(rows) + clipping / len(x)), step))
    error, step = min(found)
    return step, error
