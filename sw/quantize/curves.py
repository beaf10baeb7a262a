"""Which function of the accelerator computes a curve, with what factor, and its mean error.

GELU's polynomial has a kink at 0, which is most of what small operands see.  A SiLU with a factor,
``silu(alpha * x) / alpha``, is a better GELU for them, and which alpha is best depends on how large
they are: 4 * phi(0) = 1.596 has GELU's curvature at 0, 1.702 the least error anywhere.

The polynomial errs to one side for most operands, by up to .018, and so do the channels that an
outlier is spread over.  A mean over tokens keeps such errors, where it evens out those of rounding:
in a long text they would be most of what is lost.  So it is taken out of the bias behind.
"""

from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.functions.table import ACTIVATIONS
from celosia.isa.numerics import INT16_MAX, INT16_MIN, nearest
from celosia.sw.frontend.nn.operators.table import CURVES, OPERATORS
from celosia.sw.quantize.ranges import sample_rows
from celosia.sw.quantize.spread import Spread
from celosia.sw.reference.encoder import Floats, Linear

__all__ = ["ALPHAS", "Computed", "center", "choose_curve", "real_curve"]

_BLOCK: Final = 64

ALPHAS: Final = (1.6, 1.62, 1.64, 1.66, 1.68, 1.702, 1.72, 1.74)
"""Factors that a SiLU in GELU's place is tried with."""
_ROOM: Final = 1.5
"""A curve must take operands that are so many times larger than those of the calibration."""
_ROWS: Final = 128


@dataclass(frozen=True)
class Computed:
    """A function of the accelerator: ``function(alpha * x) / alpha``."""

    function: str
    alpha: float = 1.0

    def __call__(self, x: NDArray[np.floating]) -> Floats:
        """What it makes of real numbers: float32, before it is rounded to a type."""
        curve = ACTIVATIONS[self.function]
        scaled = np.clip(x * (self.alpha * 2.0**curve.fraction_bits), INT16_MIN, INT16_MAX)
        whole = nearest(scaled, np.int16, curve.name)
        found = _results(self.function)[whole.astype(np.intp) - INT16_MIN]
        return found * np.float32(curve.unit / self.alpha)


@cache
def _results(function: str) -> Floats:
    """What the accelerator computes of each number of int16, in their order."""
    every = np.arange(INT16_MIN, INT16_MAX + 1)
    return ACTIVATIONS[function].raw(every, {}).astype(np.float32)


def real_curve(function: str, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """The function itself."""
    if function in CURVES:
        return OPERATORS[function].compute([x], CURVES[function](1.0)[0])
    # No operator of float graphs is this curve, so that nothing waits for its arrays.
    return np.vectorize(ACTIVATIONS[function].real, otypes=[np.float64])(x)


def choose_curve(function: str, alpha: float, x: Floats) -> Computed:
    """How ``function(alpha * x) / alpha`` is computed with the least squared error on `x`."""
    if function != "gelu":
        return Computed(function, alpha)
    rows, top = sample_rows(x, _ROWS), float(np.abs(x).max(initial=0))
    real = real_curve("gelu", rows.astype(np.float64))
    silu = ACTIVATIONS["silu"].fraction_bits
    fitting = [each for each in ALPHAS if top * _ROOM * each * 2.0**silu <= INT16_MAX]

    def error(computed: Computed) -> float:
        return float(np.square(computed(rows) - real).sum())

    return min((Computed("gelu"), *(Computed("silu", each) for each in fitting)), key=error)


def center(
    spread: Spread,
    down: Linear,
    up: Floats,
    hidden: Floats,
    computed: Computed,
) -> Linear:
    """``spread.down`` with the mean of the results that `down` has without quantization.

    `up` is what enters GELU in the original network, `hidden` what leaves it, `computed` what
    leaves the unit.  Clipping of what is not spread is left out:
    it is rare, large, and of one sign.
    """
    total = np.zeros(hidden.shape[1])
    spread_channels = [one for key, copies in spread.copies.items() for one in (key, *copies)]
    for start in range(0, len(up), _BLOCK):
        block = computed(spread.entering(up[start : start + _BLOCK]))
        block[:, spread_channels] = np.minimum(block[:, spread_channels], spread.range.limit)
        total += block.sum(axis=0)
    found = (total / len(up)) @ spread.down.weights + spread.down.bias
    wanted = hidden.mean(axis=0, dtype=np.float64) @ down.weights + down.bias
    bias = spread.down.bias + (wanted - found)
    return Linear(spread.down.weights, bias.astype(np.float32))
