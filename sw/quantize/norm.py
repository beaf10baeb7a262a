"""Layer normalizations: gamma and beta as integers over one power of two."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.numerics import NORMALIZED_FRACTION_BITS, nearest
from celosia.sw.reference.encoder import Norm

__all__ = ["quantize_norm"]

_GAMMA_LIMIT: Final = 1 << 15
_BETA_LIMIT: Final = 1 << 31
_SHIFT_LIMIT: Final = 31


def quantize_norm(name: str, norm: Norm, out_steps: Any) -> dict[str, NDArray[Any]]:
    """Arrays of a normalization whose outputs are in steps of `out_steps`, one or one per column.

    The integer unit divides by the root of the *sum* of squares, and leaves fraction bits: the
    root of the number of columns and those bits go into gamma.  The shift is the largest with
    which gamma fits 16 bits and beta 32.
    """
    columns = norm.gamma.size
    gamma = norm.gamma.astype(np.float64) / out_steps * np.sqrt(columns)
    gamma /= 1 << NORMALIZED_FRACTION_BITS
    beta = norm.beta.astype(np.float64) / out_steps
    shift = min(_room(gamma, _GAMMA_LIMIT), _room(beta, _BETA_LIMIT), _SHIFT_LIMIT)
    if shift < 0:
        raise ValueError(f"{name}: gamma or beta does not fit its integer type")
    factor = 2.0**shift
    return {
        f"{name}.gamma": nearest(gamma * factor, np.int16, f"{name}.gamma")[np.newaxis],
        f"{name}.beta": nearest(beta * factor, np.int32, f"{name}.beta")[np.newaxis],
        f"{name}.shift": np.array(shift, np.int32),
    }


def _room(values: NDArray[np.float64], limit: int) -> int:
    """The largest power of two that leaves ``rint(values * power)`` below `limit`."""
    top = float(np.abs(values).max())
    return int(np.floor(np.log2((limit - 1) / top))) if top else _SHIFT_LIMIT
