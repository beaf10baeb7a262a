"""`max_pool` against its sentence, one window at a time."""

import random

import numpy as np
import pytest

from celosia.isa.numerics import max_pool


@pytest.mark.parametrize("seed", range(40))
def test_every_pixel_is_the_maximum_of_its_window(seed):
    rng = random.Random(seed)
    image = np.random.default_rng(seed).integers(
        -128, 128, (rng.randrange(6), rng.randrange(6), 2), np.int8
    )
    size, stride, top, left = (
        rng.randint(1, 3),
        rng.randint(1, 3),
        rng.randrange(4),
        rng.randrange(4),
    )
    rows, cols = rng.randint(1, 4), rng.randint(1, 4)
    got = max_pool(image, size=size, stride=stride, top=top, left=left, rows=rows, cols=cols)
    assert got.shape == (rows, cols, 2)
    for row, col, channel in np.ndindex(rows, cols, 2):
        window = []
        for wr, wc in np.ndindex(size, size):
            y, x = row * stride + wr - top, col * stride + wc - left
            inside = 0 <= y < image.shape[0] and 0 <= x < image.shape[1]
            window.append(image[y, x, channel] if inside else 0)
        assert got[row, col, channel] == max(window)
