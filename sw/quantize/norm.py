"""Layer normalizations: gamma and beta as integers over one power of two."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.numerics import NORMALIZED_FRACTION_BITS, nearest
from celosia.sw.reference.encoder import Norm

__all__ = ["least_growth", "quantize_norm"]

_GAMMA_LIMIT: Final = 1 << 15
_BETA_LIMIT: Final = 1 << 31
_SHIFT_LIMIT: Final = 31
_ROUNDED: Final = 1 + 1e-9
"""What makes up for rounding where a number is to fit exactly."""


def quantize_norm(name: str, norm: Norm, out_steps: Any) -> dict[str, NDArray[Any]]:
    """Arrays of a normalization whose outputs are in steps of `out_steps`, one or one per column.

    The integer unit divides by the root of the *sum* of squares, and leaves fraction bits: the
    root of the number of columns and those bits go into gamma.  The shift is the largest with
    which gamma fits 16 bits and beta 32.
    """
    gamma, beta = _in_steps(norm, out_steps)
    shift = min(_room(gamma, _GAMMA_LIMIT), _room(beta, _BETA_LIMIT), _SHIFT_LIMIT)
    if shift < 0:
        raise ValueError(f"{name}: gamma or beta does not fit its integer type")
    factor = 2.0**shift
    return {
        f"{name}.gamma": nearest(gamma * factor, np.int16, f"{name}.gamma")[np.newaxis],
        f"{name}.beta": nearest(beta * factor, np.int32, f"{name}.beta")[np.newaxis],
        f"{name}.shift": np.array(shift, np.int32),
    }


def least_growth(norm: Norm, out_steps: Any) -> float:
    """The factor by which `out_steps` have to grow until `quantize_norm` takes them, 1 at least.

    More than 1 where results are that small beside gamma: their rows are, beside the epsilon.
    """
    gamma, beta = (float(np.abs(each).max()) for each in _in_steps(norm, out_steps))
    growth = max(gamma / (_GAMMA_LIMIT - 1), beta / (_BETA_LIMIT - 1))
    return growth * _ROUNDED if growth > 1 else 1.0


def _in_steps(norm: Norm, out_steps: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Gamma and beta in steps of the results, without a shift."""
    gamma = norm.gamma.astype(np.float64) / out_steps * np.sqrt(norm.gamma.size)
    return gamma / (1 << NORMALIZED_FRACTION_BITS), norm.beta.astype(np.float64) / out_steps


def _room(values: NDArray[np.float64], limit: int) -> int:
    """The largest power of two that leaves ``rint(values * power)`` below `limit`."""
    top = float(np.abs(values).max())
    return int(np.floor(np.log2((limit - 1) / top))) if top else _SHIFT_LIMIT
