"""Seeded random matrices in the types of operands."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["INT8_SPREAD", "int8_matrix", "int16_matrix", "normal_matrix"]

INT8_SPREAD: Final = 40.0
"""Standard deviation of random int8 operands."""


def normal_matrix(
    random: np.random.Generator, rows: int, cols: int, spread: float
) -> NDArray[np.float64]:
    """Normally distributed numbers of mean 0 and standard deviation `spread`."""
    return random.normal(0, spread, (rows, cols))


def int8_matrix(random: np.random.Generator, rows: int, cols: int) -> NDArray[np.int8]:
    """Integers with a standard deviation of `INT8_SPREAD`, in -127 to 127."""
    values = np.rint(normal_matrix(random, rows, cols, INT8_SPREAD))
    return np.clip(values, -127, 127).astype(np.int8)


def int16_matrix(
    random: np.random.Generator, rows: int, cols: int, spread: float
) -> NDArray[np.int16]:
    """Integers with a standard deviation of `spread`, in the range of int16."""
    values = np.rint(normal_matrix(random, rows, cols, spread))
    return np.clip(values, -32768, 32767).astype(np.int16)
