"""Residual addition against Python, and what saturates where."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.isa.numerics import residual_add, scale_from_bits
from tests.support import integer_reference as reference

INT32 = st.integers(-(1 << 31), (1 << 31) - 1)
INT16 = st.integers(-(1 << 15), (1 << 15) - 1)
BITS = st.integers(0, (1 << 32) - 1)
USEFUL = st.tuples(st.integers(100, 130), st.integers(0, (1 << 23) - 1), st.booleans()).map(
    lambda parts: parts[0] << 23 | parts[1] | parts[2] << 31
)


@given(x=INT32, x_bits=BITS | USEFUL, stream=INT16, stream_bits=BITS | USEFUL)
def test_any_sum_agrees_with_python(x, x_bits, stream, stream_bits):
    got = residual_add(x, scale_from_bits(x_bits), stream, scale_from_bits(stream_bits))
    assert got.dtype == np.int16
    assert int(got) == reference.residual_add(x, x_bits, stream, stream_bits)


def test_terms_saturate_before_they_are_added():
    """70,000 - 10,000 would be 60,000: saturated once it is 32,767, saturated first 22,767."""
    assert residual_add([70_000], 1.0, [-10_000], 1.0).tolist() == [22_767]


def test_the_sum_saturates():
    got = residual_add([30_000, -30_000], 1.0, [30_000, -30_000], 1.0)
    assert got.tolist() == [32767, -32768]


def test_terms_are_rounded_before_they_are_added():
    """Two ties: a half twice is 0 + 0, three halves twice is 2 + 2."""
    assert residual_add([1, 3, 1], 0.5, [1, 3, 3], 0.5).tolist() == [0, 4, 2]


def test_scales_per_column():
    got = residual_add([[100, 100]], [0.5, np.nan], [[10, 10]], [1, 2])
    assert got.tolist() == [[60, 20]]


@pytest.mark.parametrize(
    ("x", "stream", "message"),
    [
        ([1 << 31], [0], "product: 2147483648 is not in -2147483648"),
        ([0], [1 << 15], "stream: 32768 is not in -32768"),
    ],
)
def test_wider_operands_are_refused(x, stream, message):
    with pytest.raises(ValueError, match=f"^residual: {message}"):
        residual_add(x, 1.0, stream, 1.0)
