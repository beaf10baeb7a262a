"""int32 of which every other one is close to an end of the range: sums over it have to wrap.

Uniform numbers would not do: what products add is thousands of times smaller than the range.
"""

from random import Random
from typing import Final

import numpy as np

from celosia.isa.config import ACC_BYTES, AcceleratorConfig
from celosia.isa.numerics import INT32_MAX, INT32_MIN
from celosia.lab.fuzz.programs.places import accumulator_windows
from celosia.sw.driver.program_file import Content, Region

__all__ = ["LIMITS_STRIDE", "limits", "limits_region"]

LIMITS_STRIDE: Final = ACC_BYTES
"""Bytes from one row to the next: each begins one number behind the row above it."""
_DISTANCE: Final = 1 << 12
"""From the end of the range: a few products reach as far."""


def limits_region(config: AcceleratorConfig, source: Region) -> Region:
    """The end of `source`: numbers for all rows of the accumulator that a program uses."""
    rows = sum(window.rows for window in accumulator_windows(config))
    size = (rows + config.dim) * ACC_BYTES
    return Region(source.end - size, size)


def limits(region: Region, seed: int) -> Content:
    """The numbers of `region`."""
    random = Random(f"celosia limits {seed}")
    count = region.size // ACC_BYTES
    numbers = [_number(random, near=index % 2 == 0) for index in range(count)]
    return Content(region, np.array(numbers, "<i4").tobytes())


def _number(random: Random, *, near: bool) -> int:
    if not near:
        return random.randint(INT32_MIN, INT32_MAX)
    distance = random.randrange(_DISTANCE)
    return random.choice((INT32_MIN + distance, INT32_MAX - distance))
