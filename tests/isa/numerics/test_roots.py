"""Square roots against `math.isqrt`, reciprocals against Python's integers and fractions."""

from fractions import Fraction
from math import isqrt as exact_isqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.isa.numerics import isqrt, reciprocal31, reciprocal32, reciprocal_float32
from tests.support import integer_reference as reference

LARGEST_ROOT = (1 << 24) - 1


@given(n=st.integers(0, (1 << 48) - 1))
def test_any_root(n):
    assert int(isqrt(n)) == exact_isqrt(n)


def test_roots_on_both_sides_of_every_kind_of_square():
    """k^2 - 1, k^2 and k^2 + 2k: all small k, all large ones, and a sample between."""
    k = np.concatenate([
        np.arange(1, 1 << 16),
        np.arange(1 << 16, 1 << 24, 997),
        np.arange(LARGEST_ROOT - (1 << 16), LARGEST_ROOT + 1),
    ])
    np.testing.assert_array_equal(isqrt(k * k), k)
    np.testing.assert_array_equal(isqrt(k * k - 1), k - 1)
    np.testing.assert_array_equal(isqrt(k * k + 2 * k), k)


def test_small_roots():
    n = range(5000)
    assert isqrt(list(n)).tolist() == [exact_isqrt(x) for x in n]


@pytest.mark.parametrize("n", [-1, 1 << 48])
def test_a_root_of_another_number_is_refused(n):
    with pytest.raises(ValueError, match=rf"^isqrt: {n} is not in 0\.\.281474976710655$"):
        isqrt(n)


@given(x=st.integers(1, (1 << 32) - 1) | st.integers(1, 1 << 17))
def test_reciprocals_are_rounded_down(x):
    assert int(reciprocal32(x)) == (1 << 32) // x
    assert int(reciprocal31(x)) == (1 << 31) // x


def test_widths_of_reciprocals():
    assert int(reciprocal32(1)).bit_length() == 33
    assert int(reciprocal32(2)).bit_length() == int(reciprocal31(1)).bit_length() == 32
    assert int(reciprocal32(255)).bit_length() == 25


@pytest.mark.parametrize(
    ("function", "limit"),
    [(reciprocal31, 32), (reciprocal32, 32), (reciprocal_float32, 28)],
)
@pytest.mark.parametrize("beyond", [False, True])
def test_a_reciprocal_of_another_number_is_refused(function, limit, beyond):
    x = 1 << limit if beyond else 0
    message = rf"^{function.__name__}: {x} is not in 1\.\.{(1 << limit) - 1}$"
    with pytest.raises(ValueError, match=message):
        function([1, x])


@given(x=st.integers(1, (1 << 28) - 1))
def test_any_float_reciprocal_is_correctly_rounded(x):
    assert Fraction(float(reciprocal_float32(x))) == reference.round_float32(Fraction(1, x))


def test_float_reciprocals_next_to_ties():
    """Divisors whose reciprocal is closest to the middle between two float32s."""
    mantissas = np.arange((1 << 24) + 1, 1 << 25, 2 * 4099)
    near = {x for k in range(45, 53) for x in ((1 << k) // mantissas).tolist()}
    divisors = sorted({x + d for x in near for d in (0, 1) if 0 < x + d < 1 << 28})
    got = reciprocal_float32(divisors)
    assert len(divisors) > 2000
    for x, value in zip(divisors, got.tolist(), strict=True):
        assert Fraction(value) == reference.round_float32(Fraction(1, x))
