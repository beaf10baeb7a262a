"""Wrapping, saturation, rounding, and what the checks of operands say."""

from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.isa.numerics import relu, round_half_up, round_shift, saturate, wrap32
from celosia.isa.numerics.integers import check_columns, check_format, check_range, nearest


@given(x=st.integers(-(1 << 63), (1 << 63) - 1))
def test_wrap32_is_the_remainder(x):
    got = int(wrap32(x))
    assert -(1 << 31) <= got < 1 << 31
    assert (got - x) % (1 << 32) == 0


@given(x=st.integers(-(1 << 40), 1 << 40), bits=st.integers(1, 63))
def test_saturate_clamps(x, bits):
    half = 1 << bits - 1
    assert int(saturate(x, bits)) == max(-half, min(x, half - 1))


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32, np.int64])
def test_relu_keeps_the_type(kind):
    got = relu(np.array([-5, 0, 5], kind))
    assert got.dtype == kind
    assert got.tolist() == [0, 0, 5]


@given(x=st.integers(-(1 << 50), 1 << 50), shift=st.integers(0, 50))
def test_round_half_up(x, shift):
    want = floor(Fraction(x, 1 << shift) + Fraction(1, 2))
    assert round_half_up(np.array([x]), shift).tolist() == [want]


@pytest.mark.parametrize("shift", [1, 2, 7])
def test_round_half_up_moves_every_tie_upwards(shift):
    ties = np.arange(-9, 10, 2) << shift - 1
    assert round_half_up(ties, shift).tolist() == [-4, -3, -2, -1, 0, 1, 2, 3, 4, 5]


@given(x=st.integers(-(1 << 50), 1 << 50), shift=st.integers(0, 50))
def test_round_shift(x, shift):
    """Python rounds fractions to the nearest integer, ties to even."""
    assert round_shift([x, -x], shift).tolist() == [
        round(Fraction(x, 1 << shift) * sign) for sign in (1, -1)
    ]


@pytest.mark.parametrize("shift", [1, 2, 7])
def test_round_shift_moves_every_tie_to_the_even_side(shift):
    ties = np.arange(-9, 10, 2) << shift - 1
    assert round_shift(ties, shift).tolist() == [-4, -4, -2, -2, 0, 0, 2, 2, 4, 4]


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int64, np.uint64])
def test_a_range_takes_every_type_that_fits(kind):
    values = np.array([0, 100], kind)
    assert check_range(values, 0, 100, "x") is values


@pytest.mark.parametrize(("x", "value"), [([5, -1], -1), ([101, 0], 101), (np.uint64(300), 300)])
def test_a_value_out_of_range_is_named(x, value):
    with pytest.raises(ValueError, match=rf"^gelu: {value} is not in 0\.\.100$"):
        check_range(x, 0, 100, "gelu")


@pytest.mark.parametrize("x", [1.0, True, [0.5], np.zeros(2, np.float32)])
def test_only_integers_are_integers(x):
    with pytest.raises(TypeError, match=r"^gelu: .* is not an integer type$"):
        check_range(x, 0, 100, "gelu")


def test_nothing_is_in_every_range():
    assert check_range(np.zeros((3, 0), np.int64), 5, 6, "x").shape == (3, 0)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (4097,), (2, 5000)])
def test_rows_have_limits(shape):
    columns = shape[-1] if shape else 0
    with pytest.raises(ValueError, match=rf"^softmax: {columns} columns are not in 1\.\.4096$"):
        check_columns(np.zeros(shape, np.int16), "softmax")


@pytest.mark.parametrize("shape", [(1,), (0, 1), (4096,), (2, 4096)])
def test_both_limits_of_rows_are_legal(shape):
    assert check_columns(np.zeros(shape, np.int16), "softmax") == shape[-1]


def test_a_format_is_one_of_those_listed():
    assert check_format(np.int8, (np.int8, np.uint8), "x") == np.dtype(np.int8)
    with pytest.raises(ValueError, match=r"^x: int32 is none of int8, uint8$"):
        check_format(np.int32, (np.int8, np.uint8), "x")


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.int32])
@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_nearest_refuses_what_does_not_fit(kind, real):
    held = np.iinfo(kind)
    assert nearest(np.array([held.min, 2.5, 3.5], real), kind, "x").tolist() == [held.min, 2, 4]
    assert nearest(np.array([], real), kind, "x").dtype == kind
    for value in (held.max + 1, 2 * held.min - 1, np.nan, np.inf, -np.inf):
        with pytest.raises(ValueError, match=rf"^gamma: .* does not fit {held.dtype}$"):
            nearest(np.array([0, value], real), kind, "gamma")
