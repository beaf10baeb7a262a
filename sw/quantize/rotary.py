"""The table of a rotary embedding: cosines and sines of angles, as int16."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.isa.numerics.integers import INT16_MAX, nearest
from celosia.isa.numerics.rotation import ROTATION_FRACTION_BITS
from celosia.sw.reference.language.shape import rotary_frequencies

__all__ = ["rotary_table"]


def rotary_table(positions: NDArray[np.integer[Any]], width: int) -> NDArray[np.int16]:
    """Cosines, then sines, of each position's angles: a row of `width` columns for each."""
    angles = positions[:, np.newaxis] * rotary_frequencies(width)
    exact = np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
    scaled = np.minimum(exact * (1 << ROTATION_FRACTION_BITS), INT16_MAX)
    return nearest(scaled, np.int16, "rotary table")
