"""How far arrays are from what they stand for, in decibels."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["decibels"]


def decibels(real: NDArray[Any], found: NDArray[Any]) -> float:
    """The ratio of a signal to what is lost of it; infinite, if either is nothing."""
    real, found = real.astype(np.float64), found.astype(np.float64)
    signal, lost = float(np.vdot(real, real)), float(np.square(real - found).sum())
    return 10 * float(np.log10(signal / lost)) if lost and signal else float("inf")
