"""SmoothQuant: a factor for each channel moves range from activations into weights.

Activations are divided by their factors where they are made (the normalization's gamma and beta,
or the scale of V), weights multiplied where they are used.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from celosia.sw.quantize.linear import weight_steps
from celosia.sw.quantize.ranges import INT8_LARGEST, column_ranges, largest, least_error
from celosia.sw.reference.encoder import Floats

__all__ = ["STRENGTHS", "Smoothing", "choose_smoothing", "smoothing_error", "smoothing_factors"]

STRENGTHS: Final = (0.55, 0.65, 0.75, 0.85, 0.95, 1.0)
"""How much of the range moves; the one with the least error is taken."""
_FLOOR: Final = 1e-5
"""The least size that a channel counts with."""
_FEW: Final = 128
"""Fewer rows say too little of how large others will be: what one half says is tried on the
other."""
_FEW_PRODUCTS: Final = 1024
"""The same of products of two numbers, of which few are far larger than the usual ones."""
_LEAST: Final = 8
"""With fewer rows, halves say nothing of each other."""
_LIMITS: Final = np.geomspace(2, 0.25, 25)
"""Multiples of the largest magnitude at which clipping is tried then."""


@dataclass(frozen=True, eq=False)
class Smoothing:
    """How an activation becomes int8."""

    factors: Floats
    """What each channel is divided by."""
    step: float
    """The step of the quotients in int8."""

    @property
    def steps(self) -> Floats:
        """What 1 stands for in each channel."""
        return self.factors * np.float32(self.step)


def choose_smoothing(x: Floats, weights: Floats, *, products: bool = False) -> Smoothing:
    """The smoothing of `x` with the least error of ``x @ weights`` once both are int8.

    Of few rows, the step is not below that with the least error on one half of them, by what the
    other half says; if elements are `products`, of more rows.
    """
    ranges = column_ranges(x)
    power = np.square(x).mean(axis=0)
    found = []
    for strength in STRENGTHS:
        factors = smoothing_factors(ranges, weights, strength)
        error, step = smoothing_error(x, weights, factors, power)
        found.append((error, strength, Smoothing(factors, step)))
    _, strength, best = min(found, key=lambda each: each[0])
    if not _LEAST <= len(x) < (_FEW_PRODUCTS if products else _FEW):
        return best
    limit = largest(x / best.factors) * _held_out(x, weights, strength)
    return Smoothing(best.factors, max(best.step, limit / INT8_LARGEST))


def _held_out(x: Floats, weights: Floats, strength: float) -> float:
    """The multiple of the largest magnitude of one half at which the other is clipped best."""
    middle = len(x) // 2
    worth = np.square(weights).sum(axis=1)
    errors = np.zeros(len(_LIMITS))
    for seen, other in ((x[:middle], x[middle:]), (x[middle:], x[:middle])):
        factors = smoothing_factors(column_ranges(seen), weights, strength)
        top, size = largest(seen / factors), np.abs(other / factors)
        for place, limit in enumerate(_LIMITS):
            step = top * float(limit) / INT8_LARGEST or 1.0
            lost = np.minimum(np.rint(size / step), INT8_LARGEST) * step - size
            errors[place] += float(np.square(lost).sum(axis=0) @ (worth * factors**2))
    return float(_LIMITS[errors.argmin()])


def smoothing_error(
    x: Floats, weights: Floats, factors: Floats, power: Floats
) -> tuple[float, float]:
    """The squared error of a row of ``x @ weights`` with these factors, and the step of `x`.

    `power` is the mean square of each column of `x`.
    Errors by rounding are taken for independent of each other.
    """
    step, error = least_error(x / factors, np.square(weights).sum(axis=1) * factors**2)
    scaled = weights * factors[:, np.newaxis]
    lost = np.square(_rounding(scaled, weight_steps(scaled))).sum(axis=1)
    return error + float(lost @ (power / factors**2)), step


def smoothing_factors(ranges: Floats, weights: Floats, strength: float) -> Floats:
    """``range**strength / range of weights**(1 - strength)`` per channel, with a mean of 1."""
    activations = np.maximum(ranges, _FLOOR)
    rows = np.maximum(np.abs(weights).max(axis=1), _FLOOR)
    logs = strength * np.log(activations) - (1 - strength) * np.log(rows)
    return np.exp(logs - logs.mean()).astype(np.float32)


def _rounding(x: Floats, steps: Any) -> Floats:
    kept = np.clip(np.rint(x / steps), -INT8_LARGEST, INT8_LARGEST)
    return (kept * steps - x).astype(np.float32)
