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


ENDS = (0, 1, -1, 2, -5, 99, 1 << 15, -(1 << 16), (1 << 30) + 3, (1 << 31) - 1, -(1 << 31))
"""Among them both ends of int32."""


def wrapped(number: int) -> int:
    """`number` modulo 2^32, as a signed number."""
    return (number + (1 << 31)) % (1 << 32) - (1 << 31)


@pytest.mark.parametrize("q", ENDS)
def test_all_of_gelu_wraps_at_the_ends_of_int32(q):
    for qb in ENDS:
        for qc in ENDS:
            least = min(wrapped(abs(q)), wrapped(-qb))
            square = wrapped(wrapped(wrapped(least + qb) ** 2) + qc)
            curve = wrapped(wrapped(-square if q < 0 else square) + qc)
            assert wrapped_gelu([q], qb, qc).tolist() == [wrapped(q * curve)], (qb, qc)


@pytest.mark.parametrize("places", [-(1 << 15), -1, 0, 1, 15, 29, 30, 31, 32, 33, (1 << 15) - 1])
@pytest.mark.parametrize("square", [0, 7, (1 << 30) - 1, 1 << 30, (1 << 31) - 1, 1 << 31, 3 << 30])
def test_the_exponential_shifts_by_0_to_31_places(places, square):
    """The inverse alone says by how many, and `qc` alone what is shifted."""
    q, qc = -1, wrapped(square)
    found = wrapped_exponential([q], 1, qc, 0, wrapped(places << 16))
    assert found.tolist() == [qc >> min(max(places, 0), 31)]


@pytest.mark.parametrize("q", ENDS)
def test_all_of_the_exponential_wraps_at_the_ends_of_int32(q):
    for qb, qc, ln2, inverse in zip(ENDS, ENDS[1:] + ENDS[:1], ENDS[::-1], ENDS * 2, strict=False):
        places = wrapped(wrapped(-q) * inverse) >> 16
        base = wrapped(q + wrapped(places * ln2))
        square = wrapped(wrapped(base + qb) ** 2 + qc)
        expected = square >> min(max(places, 0), 31)
        found = wrapped_exponential([q], qb, qc, ln2, inverse)
        assert found.tolist() == [expected], (qb, qc, ln2, inverse)
