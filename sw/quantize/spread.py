"""Outliers of the hidden activations, spread over several channels.

After GELU, one or two channels reach several times what all others do, on a few tokens.  One uint8
step for all then is too coarse for the others, and clipping ruins those tokens.  For large u,
``gelu(u)`` is u: so a channel whose values reach beyond the limit L of uint8 is repeated with
``u - L``, ``u - 2L``, ..., and the saturating channels add up to the whole.  The room comes from
the channels that matter least, which are replaced by their mean.  The network keeps its shape.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.numerics.activation import GELU_CURVE
from celosia.sw.quantize.ranges import sample_rows
from celosia.sw.reference.encoder import Floats, Linear

__all__ = ["HiddenRange", "Spread", "best_range", "spread_outliers"]

_UINT8_LARGEST: Final = 255
_SPARE: Final = 16
"""Channels that may be given up."""
_MARGIN: Final = 1.25
"""Channels are spread for values this many times those of the calibration."""
_LIMITS: Final = np.geomspace(2, 32, 25)
_ROWS: Final = 512
_CLIPS: Final = np.geomspace(1, 0.25, 25)
"""Fractions of the largest value at which clipping behind a curve is tried."""


@dataclass(frozen=True)
class HiddenRange:
    """The uint8 format of hidden activations."""

    step: float
    zero_point: int

    @classmethod
    def up_to(cls, limit: float) -> "HiddenRange":
        """The range from GELU's least value to `limit`."""
        return cls.between(GELU_CURVE.least, limit)

    @classmethod
    def between(cls, least: float, limit: float) -> "HiddenRange":
        """The range from `least`, which is at most 0, to `limit`."""
        step = (limit - least) / _UINT8_LARGEST
        return cls(step, round(-least / step))

    @property
    def limit(self) -> float:
        """The largest value of the range."""
        return (_UINT8_LARGEST - self.zero_point) * self.step


@dataclass(frozen=True, eq=False)
class Spread:
    """The feed-forward network with its outliers spread, and the range of its hidden values."""

    up: Linear
    down: Linear
    range: HiddenRange
    copies: Mapping[int, Sequence[int]]
    """The channels that an outlier is spread over besides itself, by the outlier's channel."""

    def entering(self, x: Floats) -> Floats:
        """What enters GELU, from what would have entered it without spreading."""
        x = x.copy()
        for channel, copies in self.copies.items():
            for number, copy in enumerate(copies, start=1):
                x[:, copy] = x[:, channel] - np.float32(number * self.range.limit)
        return x


def spread_outliers(up: Linear, down: Linear, hidden: Floats) -> Spread:
    """`up` and `down` rearranged for the best range of their `hidden` activations."""
    weights = np.square(down.weights).sum(axis=1)
    spare = np.argsort(hidden.var(axis=0) * weights)[:_SPARE]
    seen = _Seen(hidden, weights, spare)
    plans = [_Plan(limit, seen) for limit in _LIMITS]
    best = min(plans, key=lambda plan: plan.error)
    return best.apply(up, down, hidden.mean(axis=0))


class _Seen:
    """What is the same at all limits."""

    def __init__(self, hidden: Floats, weights: Floats, spare: NDArray[np.intp]):
        self.hidden, self.weights, self.spare = hidden, weights, spare
        self.rows, self.tops = sample_rows(hidden, _ROWS), hidden.max(axis=0)
        self.lost_spare = hidden[:, spare].var(axis=0) * weights[spare]


class _Plan:
    """What is spread at one limit, and the error that remains."""

    def __init__(self, limit: float, seen: _Seen):
        hidden, weights, spare, tops = seen.hidden, seen.weights, seen.spare, seen.tops
        self.range = HiddenRange.up_to(limit)
        self.copies: dict[int, list[int]] = {}
        """The channels given up for each channel that is spread, by the latter."""
        self.error = float(self._rounding(seen.rows) @ weights) / len(seen.rows)
        channels = np.flatnonzero(tops > self.range.limit)
        lost = self._clipping(hidden[:, channels]) * weights[channels]
        clipped = dict(zip(channels.tolist(), lost.tolist(), strict=True))
        given_up = 0
        for channel in sorted(clipped, key=lambda one: -clipped[one]):
            copies = ceil(_MARGIN * tops[channel] / self.range.limit) - 1
            taken = slice(given_up, given_up + copies)
            cost = float(seen.lost_spare[taken].sum())
            room = given_up + copies <= len(spare) and channel not in spare
            if room and cost < clipped[channel]:
                self.copies[channel] = spare[taken].tolist()
                given_up += copies
            self.error += min(cost, clipped[channel]) if room else clipped[channel]

    def _rounding(self, rows: Floats) -> Floats:
        """Each channel's squared error, without clipping."""
        steps = rows * np.float32(1 / self.range.step)
        return np.square((np.rint(steps) - steps) * np.float32(self.range.step)).sum(axis=0)

    def _clipping(self, values: Floats) -> Floats:
        """Each channel's mean squared error by clipping alone."""
        return np.square(np.maximum(values - np.float32(self.range.limit), 0)).mean(axis=0)

    def apply(self, up: Linear, down: Linear, means: Floats) -> Spread:
        up_weights, up_bias = up.weights.copy(), up.bias.copy()
        down_weights, down_bias = down.weights.copy(), down.bias.copy()
        for channel, copies in self.copies.items():
            for number, copy in enumerate(copies, start=1):
                down_bias += means[copy] * down.weights[copy]
                up_weights[:, copy] = up.weights[:, channel]
                up_bias[copy] = up.bias[channel] - number * self.range.limit
                down_weights[copy] = down.weights[channel]
        up, down = Linear(up_weights, up_bias), Linear(down_weights, down_bias)
        return Spread(up, down, self.range, self.copies)


def best_range(x: Floats, least: float) -> HiddenRange:
    """The range of uint8, from `least`, with the least squared error on `x`."""
    top = max(float(x.max(initial=0)), 1e-6)

    def error(found: HiddenRange) -> float:
        whole = np.clip(np.rint(x / np.float32(found.step)) + found.zero_point, 0, 255)
        lost = (whole - found.zero_point) * np.float32(found.step) - x
        return float(np.vdot(lost, lost))

    return min((HiddenRange.between(least, top * float(clip)) for clip in _CLIPS), key=error)
