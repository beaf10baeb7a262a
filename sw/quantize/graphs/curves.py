"""Which function of the accelerator computes a curve, and with what factor.

GELU's polynomial has a kink at 0, which is most of what small operands see.  A SiLU with a factor,
``silu(alpha * x) / alpha``, is a better GELU for them, and which alpha is best depends on how large
they are: 4 * phi(0) = 1.596 has GELU's curvature at 0, 1.702 the least error anywhere.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.functions.table import ACTIVATIONS
from celosia.isa.numerics import INT16_MAX, INT16_MIN
from celosia.sw.frontend.nn.operators.operator import Attributes
from celosia.sw.frontend.nn.operators.table import OPERATORS
from celosia.sw.quantize.ranges import sample_rows
from celosia.sw.reference.encoder import Floats

__all__ = ["ALPHAS", "Computed", "choose_curve", "real_curve"]

ALPHAS: Final = (1.6, 1.62, 1.64, 1.66, 1.68, 1.702, 1.72, 1.74)
"""Factors that a SiLU in GELU's place is tried with."""
_ROOM: Final = 1.5
"""A curve must take operands that are so many times larger than those of the calibration."""
_ROWS: Final = 128
_FORMS: Final[dict[str, Attributes]] = {"gelu": {"form": "erf"}, "silu": {"alpha": 1.0}}
"""The attributes of the float graph's operator of the same name."""


@dataclass(frozen=True)
class Computed:
    """A function of the accelerator: ``function(alpha * x) / alpha``."""

    function: str
    alpha: float = 1.0

    def __call__(self, x: NDArray[np.floating]) -> Floats:
        """What it makes of real numbers: float32, before it is rounded to a type."""
        curve = ACTIVATIONS[self.function]
        whole = np.rint(x * (self.alpha * 2.0**curve.fraction_bits))
        raw = curve.raw(np.clip(whole, INT16_MIN, INT16_MAX).astype(np.int16), {})
        return raw.astype(np.float32) * np.float32(curve.unit / self.alpha)


def real_curve(function: str, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """The function itself."""
    return OPERATORS[function].compute([x], _FORMS[function])


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
