"""Steps of activations: what 1 in an integer stands for, so that the error is least."""

from collections.abc import Iterable
from typing import Final

import numpy as np

from celosia.sw.reference.encoder import Floats

__all__ = ["INT8_LARGEST", "best_step", "int16_step", "largest", "sample_rows", "squared_error"]

INT8_LARGEST: Final = 127
"""The largest number of symmetric int8: -128 is not used."""

_INT16_LARGEST: Final = 32767
_HEADROOM: Final = 1.5
"""An int16 holds this many times the largest element of the calibration."""
_CLIPS: Final = np.geomspace(1.0, 0.25, 25)
"""Fractions of the largest magnitude at which clipping is tried."""
_SEED: Final = 0x5EED


def largest(x: Floats) -> float:
    """The largest magnitude of an element of `x`."""
    return float(np.abs(x).max(initial=0))


def int16_step(x: Floats) -> float:
    """The step of int16 for values like `x`, with room for larger ones."""
    return (largest(x) * _HEADROOM or 1.0) / _INT16_LARGEST


def sample_rows(x: Floats, count: int) -> Floats:
    """The rows of `x`, or `count` of them: of as many rows always the same ones."""
    if len(x) <= count:
        return x
    return x[np.random.default_rng(_SEED).choice(len(x), count, replace=False)]


def best_step(x: Floats, metric: Floats | None = None) -> float:
    """The step of symmetric int8 with the least `squared_error` on `x`."""
    top = largest(x)
    if top == 0:
        return 1.0
    steps: Iterable[float] = (top * float(clip) / INT8_LARGEST for clip in _CLIPS)
    return min(steps, key=lambda step: squared_error(_lost(x, step), metric))


def squared_error(error: Floats, metric: Floats | None = None) -> float:
    """The squared norm of `error`, rows of columns, by the quadratic form `metric` if given.

    With the metric ``w @ w.T``, it is the squared norm of ``error @ w``.
    """
    return float(np.vdot(error, error if metric is None else error @ metric))


def _lost(x: Floats, step: float) -> Floats:
    steps = x * np.float32(1 / step)
    kept = np.clip(np.rint(steps), -INT8_LARGEST, INT8_LARGEST)
    return (kept - steps) * np.float32(step)
