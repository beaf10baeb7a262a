"""The mean error of the integer GELU, taken out of the bias behind it.

The polynomial of the unit errs to one side for most operands, by up to .018, and so do the channels
that an outlier is spread over.  A mean over tokens keeps such errors, where it evens out those of
rounding: in a long text they would be most of what is lost.
"""

from collections.abc import Callable
from typing import Final

import numpy as np

from celosia.isa.numerics import (
    GELU_FRACTION_BITS,
    GELU_SCALE,
    INT16_MAX,
    INT16_MIN,
    nearest,
    raw_gelu,
)
from celosia.sw.quantize.spread import Spread
from celosia.sw.reference.encoder import Floats, Linear

__all__ = ["center", "integer_gelu"]

_BLOCK: Final = 64


def center(
    spread: Spread,
    down: Linear,
    up: Floats,
    hidden: Floats,
    computed: Callable[[Floats], Floats] | None = None,
) -> Linear:
    """``spread.down`` with the mean of the results that `down` has without quantization.

    `up` is what enters GELU in the original network, `hidden` what leaves it, `computed` what
    leaves the unit: its GELU, if there is no other.  Clipping of what is not spread is left out:
    it is rare, large, and of one sign.
    """
    curve = computed or integer_gelu
    total = np.zeros(hidden.shape[1])
    spread_channels = [one for key, copies in spread.copies.items() for one in (key, *copies)]
    for start in range(0, len(up), _BLOCK):
        block = curve(spread.entering(up[start : start + _BLOCK]))
        block[:, spread_channels] = np.minimum(block[:, spread_channels], spread.range.limit)
        total += block.sum(axis=0)
    found = (total / len(up)) @ spread.down.weights + spread.down.bias
    wanted = hidden.mean(axis=0, dtype=np.float64) @ down.weights + down.bias
    bias = spread.down.bias + (wanted - found)
    return Linear(spread.down.weights, bias.astype(np.float32))


def integer_gelu(x: Floats) -> Floats:
    """The polynomial of the unit on real numbers."""
    whole = nearest(np.clip(x * 2**GELU_FRACTION_BITS, INT16_MIN, INT16_MAX), np.int16, "GELU")
    return raw_gelu(whole) * np.float32(GELU_SCALE)
