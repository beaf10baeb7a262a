"""I-GELU and the passes of softmax and layer normalization against real numbers."""

import math

import numpy as np
import pytest

from celosia.isa.numerics import (
    inverse_deviation,
    inverse_sum,
    truncated_mean,
    wrapped_exponential,
    wrapped_gelu,
)

ROOT_2 = 2**0.5


def gelu_constants(scale: float) -> tuple[int, int]:
    """As I-BERT has them: a(x + b)^2 + c with a = -0.2888, b = -1.769, c = 1."""
    step = scale / ROOT_2
    return round(-1.769 / step), round(1 / (-0.2888 * step**2))


def test_gelu_is_near_gelu():
    scale = 0.05
    x = np.arange(-120, 121)
    qb, qc = gelu_constants(scale)
    factor = scale * -0.2888 * (scale / ROOT_2) ** 2 / 2
    real = x * scale
    exact = real * (1 + np.vectorize(math.erf)(real / ROOT_2)) / 2
    assert np.abs(wrapped_gelu(x, qb, qc) * factor - exact).max() < 0.03


def test_the_exponential_is_near_the_exponential():
    scale = 0.02
    a, b, c = 0.3585, 1.353, 0.344
    constants = round(b / scale), round(c / (a * scale**2)), round(np.log(2) / scale)
    inverse = round(65536 / constants[2])
    q = -np.arange(0, 500)
    got = wrapped_exponential(q, *constants, inverse) * a * scale**2
    assert np.abs(got - np.exp(q * scale)).max() < 0.02


@pytest.mark.parametrize(
    ("total", "count", "mean"), [(7, 2, 3), (-7, 2, -3), (0, 5, 0), (-1, 9, 0)]
)
def test_means_are_cut_toward_zero(total, count, mean):
    assert truncated_mean(total, count) == mean


def test_factors():
    assert inverse_deviation(0, 4, np.float32(3)) == 3
    assert inverse_deviation(-5, 4, np.float32(3)) == 3
    assert inverse_deviation(4 * 99, 4, np.float32(1)) == np.float32(1) / np.float32(9)
    assert inverse_sum(0, np.float32(1)) == np.inf
    assert np.isnan(inverse_sum(0, np.float32(0)))
    assert inverse_sum((1 << 24) + 1, np.float32(1)) == np.float32(127) / np.float32(1 << 24)
