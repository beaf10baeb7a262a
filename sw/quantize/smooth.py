"""SmoothQuant: a factor for each channel moves range from activations into weights.

Activations are divided by their factors where they are made (the normalization's gamma and beta,
or the scale of V), weights multiplied where they are used.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from celosia.sw.quantize.linear import weight_steps
from celosia.sw.quantize.ranges import INT8_LARGEST, best_step, sample_rows, squared_error
from celosia.sw.reference.encoder import Floats

__all__ = ["Smoothing", "choose_smoothing", "smoothing_factors"]

_STRENGTHS: Final = (0.55, 0.65, 0.75)
"""How much of the range moves; the one with the least error is taken."""
_ROWS: Final = 512
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
    rows = sample_rows(x, _ROWS)
    gram = rows.T @ rows
    ranges = np.abs(x).max(axis=0)
    metric = weights @ weights.T

    def candidate(strength: float) -> tuple[float, Smoothing]:
        factors = smoothing_factors(ranges, weights, strength)
        scaled = factors[:, np.newaxis]
        smooth_metric = metric * factors * scaled
        smooth_rows = rows / factors
        smoothing = Smoothing(factors, best_step(smooth_rows, smooth_metric))
        lost = _rounding(smooth_rows, smoothing.step)
        lost_weights = (_rounding(weights * scaled, weight_steps(weights * scaled)) / scaled).T
        return squared_error(lost, smooth_metric) + squared_error(lost_weights, gram), smoothing

    return min(map(candidate, _STRENGTHS), key=lambda pair: pair[0])[1]


def smoothing_factors(ranges: Floats, weights: Floats, strength: float) -> Floats:
    """``range**strength / range of weights**(1 - strength)`` per channel, with a mean of 1."""
    activations = np.maximum(ranges, _FLOOR)
    rows = np.maximum(np.abs(weights).max(axis=1), _FLOOR)
    logs = strength * np.log(activations) - (1 - strength) * np.log(rows)
    return np.exp(logs - logs.mean()).astype(np.float32)


def _rounding(x: Floats, steps: Any) -> Floats:
    kept = np.clip(np.rint(x / steps), -INT8_LARGEST, INT8_LARGEST)
    return (kept * steps - x).astype(np.float32)
