"""Rotations against Python, at their extremes, and against real angles."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.isa.numerics import rotate
from tests.support import integer_reference as reference

INT16 = st.integers(-(1 << 15), (1 << 15) - 1) | st.sampled_from([-(1 << 15), 0, (1 << 15) - 1])
SCALES = st.floats(-2.0, 2.0, width=32)


@given(
    row=st.lists(INT16, min_size=4, max_size=4),
    table=st.lists(INT16, min_size=4, max_size=4),
    scale=SCALES,
    zero_point=st.integers(0, 255),
)
def test_a_rotation_agrees_with_python(row, table, scale, zero_point):
    bits = int(np.float32(scale).view(np.uint32))
    for kind, zero in (("int8", 0), ("uint8", zero_point), ("int16", 0)):
        got = rotate([row], [table], np.float32(scale), kind, zero_point=zero)
        assert got.dtype == kind
        assert got.tolist() == [reference.rotate(row, table, bits, kind, zero)]


def test_it_saturates_before_it_is_scaled():
    low = -(1 << 15)
    assert rotate([low, low], [low, low], 0.5, np.int16).tolist() == [0, 16384]
    assert rotate([low, 32767], [32767, 32767], 0.5, np.int16).tolist() == [-16384, 0]


def test_it_is_near_the_real_one():
    """Positions up to 4,096, frequencies of a head of 64: the table's rounding adds little."""
    random = np.random.default_rng(0)
    x = random.integers(-20_000, 20_000, (4096, 64))
    angles = np.arange(4096)[:, np.newaxis] * 10_000.0 ** (-np.arange(32) / 32)
    exact = np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
    table = np.minimum(np.rint(exact * 2**15), 32767).astype(np.int64)
    pairs = (x[:, :32] + 1j * x[:, 32:]) * np.exp(1j * angles)
    real = np.concatenate([pairs.real, pairs.imag], axis=1)
    assert np.abs(rotate(x, table, 1.0, np.int16) - real).max() < 2.5


def test_rows_have_two_halves():
    with pytest.raises(ValueError, match=r"^rotate: 3 columns are not two halves$"):
        rotate([[1, 2, 3]], [[1, 2, 3]], 1.0, np.int16)


@pytest.mark.parametrize(("x", "table"), [((1 << 15, 0), (0, 0)), ((0, 0), (0, -(1 << 15) - 1))])
def test_wider_operands_are_refused(x, table):
    with pytest.raises(ValueError, match=r"^rotate(: table)?: -?3276[89] is not in"):
        rotate(x, table, 1.0, np.int16)
