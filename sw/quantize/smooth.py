"""SmoothQuant: a factor for each channel moves range from activations into weights.

Activations are divided by their factors where they are made (the normalization's gamma and beta,
or the scale of V), weights multiplied where they are used.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from celosia.sw.quantize.linear import weight_steps
from celosia.sw.quantize.ranges import INT8_LARGEST, column_ranges, least_error
from celosia.sw.reference.encoder import Floats

__all__ = [
    "STRENGTHS",
    "Smoothing",
    "choose_smoothing",
    "smoothing_error",
    "smoothing_factors",
    "weight_factors",
]

STRENGTHS: Final = (0.55, 0.65, 0.75, 0.85, 0.95, 1.0)
"""How much of the range moves; the one with the least error is taken."""
_ALONE: Final = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
"""The same where operands have enough bits: with more, weights lose what they gain."""
_FLOOR: Final = 1e-5
"""The least size that a channel counts with."""


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


def choose_smoothing(x: Floats, weights: Floats) -> Smoothing:
    """The smoothing of `x` with the least error of ``x @ weights`` once both are int8."""
    ranges = column_ranges(x)
    candidates = (smoothing_factors(ranges, weights, strength) for strength in STRENGTHS)
    power = np.square(x).mean(axis=0)
    found = ((smoothing_error(x, weights, factors, power), factors) for factors in candidates)
    (_, step), factors = min(found, key=lambda pair: pair[0][0])
    return Smoothing(factors, step)


def smoothing_error(
    x: Floats, weights: Floats, factors: Floats, power: Floats
) -> tuple[float, float]:
    """The squared error of a row of ``x @ weights`` with these factors, and the step of `x`.

    `power` is the mean square of each column of `x`.
    Errors by rounding are taken for independent of each other.
    """
    step, error = least_error(x / factors, np.square(weights).sum(axis=1) * factors**2)
    return error + _lost_by_weights(weights, factors, power), step


def weight_factors(x: Floats, weights: Floats) -> Floats:
    """The factors of columns of `x` with which rounding the weights alone costs least."""
    power = np.square(x).mean(axis=0)
    logs = np.log(np.maximum(np.sqrt(power), _FLOOR))
    logs -= logs.mean()
    candidates = (np.exp(strength * logs).astype(np.float32) for strength in _ALONE)
    return min(candidates, key=lambda each: _lost_by_weights(weights, each, power))


def _lost_by_weights(weights: Floats, factors: Floats, power: Floats) -> float:
    scaled = weights * factors[:, np.newaxis]
    lost = np.square(_rounding(scaled, weight_steps(scaled))).sum(axis=1)
    return float(lost @ (power / factors**2))


def smoothing_factors(ranges: Floats, weights: Floats, strength: float) -> Floats:
    """``range**strength / range of weights**(1 - strength)`` per channel, with a mean of 1."""
    activations = np.maximum(ranges, _FLOOR)
    rows = np.maximum(np.abs(weights).max(axis=1), _FLOOR)
    logs = strength * np.log(activations) - (1 - strength) * np.log(rows)
    return np.exp(logs - logs.mean()).astype(np.float32)


def _rounding(x: Floats, steps: Any) -> Floats:
    kept = np.clip(np.rint(x / steps), -INT8_LARGEST, INT8_LARGEST)
    return (kept * steps - x).astype(np.float32)
