"""The arithmetic against exact rational arithmetic, given vectors and ties by hand."""

import doctest
import struct
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.isa import numerics
from celosia.isa.numerics import (
    exact_matmul,
    mvin_scale,
    relu,
    requantize,
    saturate,
    scale_from_bits,
    wrap32,
)

VECTORS = Path(__file__).parents[1] / "vectors"
INT32 = st.integers(-(1 << 31), (1 << 31) - 1)
BITS = st.integers(0, (1 << 32) - 1)
SMALLEST = Fraction(1, 1 << 149)
OVERFLOW = Fraction((1 << 25) - 1) * 2**103  # From here on, float32 rounds to infinity.


def round_float32(value: Fraction) -> Fraction | None:
    """`value` to 24 significant bits, ties to even, subnormals kept; None for an infinity."""
    if abs(value) >= OVERFLOW:
        return None
    exponent = 0
    while abs(value) >= Fraction(2) ** (exponent + 24):
        exponent += 1
    while exponent > -149 and abs(value) < Fraction(2) ** (exponent + 23):
        exponent -= 1
    unit = Fraction(2) ** exponent
    return round(value / unit) * unit  # Python rounds fractions to even.


def exact_requantize(x: int, bits: int, low: int, high: int) -> int:
    """Requantization of a finite scale in rational arithmetic."""
    scale = Fraction(*struct.unpack("<f", struct.pack("<I", bits))[0].as_integer_ratio())
    operand = round_float32(Fraction(x))
    assert operand is not None
    product = round_float32(operand * scale)
    if product is None:
        return high if (x > 0) == (scale > 0) else low
    return max(low, min(round(product), high))


def is_finite(bits: int) -> bool:
    return bits >> 23 & 0xFF != 0xFF


def test_the_examples_in_the_documentation_are_right():
    failed, tried = doctest.testmod(numerics)
    assert tried >= 9
    assert failed == 0


@given(x=INT32, bits=BITS.filter(is_finite))
def test_any_finite_scale_agrees_with_rational_arithmetic(x, bits):
    scale = scale_from_bits(bits)
    assert requantize(x, scale) == exact_requantize(x, bits, -128, 127)
    assert requantize(x, scale, low=-(1 << 31), high=(1 << 31) - 1) == exact_requantize(
        x, bits, -(1 << 31), (1 << 31) - 1
    )


@given(
    x=INT32,
    exponent=st.integers(-34, 10),
    mantissa=st.integers(0, (1 << 23) - 1),
    sign=st.integers(0, 1),
)
def test_scales_whose_results_are_small_agree_with_rational_arithmetic(x, exponent, mantissa, sign):
    bits = sign << 31 | exponent + 127 << 23 | mantissa
    want = exact_requantize(x, bits, -32768, 32767)
    assert requantize(x, scale_from_bits(bits), low=-32768, high=32767) == want


@given(x=st.integers(-(1 << 10), 1 << 10), shift=st.integers(1, 8))
def test_ties_go_to_even(x, shift):
    """A scale of a power of two is exact, so every tie reaches the last rounding."""
    want = round(Fraction(x, 1 << shift))
    assert requantize(x, 2.0**-shift, low=-32768, high=32767) == want


def test_ties_by_hand():
    odds = [-7, -5, -3, -1, 1, 3, 5, 7]
    assert requantize(odds, 0.5).tolist() == [-4, -2, -2, 0, 0, 2, 2, 4]


def test_the_conversion_to_float32_rounds_to_even():
    """2^24 + 1 and 2^24 + 3 are ties between float32s: down to 2^24, up to 2^24 + 4."""
    values = [(1 << 24) + 1, (1 << 24) + 3, -(1 << 24) - 1]
    got = requantize(values, 1.0, low=-(1 << 31), high=(1 << 31) - 1)
    assert got.tolist() == [1 << 24, (1 << 24) + 4, -(1 << 24)]


def test_the_product_is_rounded_before_the_integer():
    """3 * fl(1/6): the exact product is just above 1/2, as a float32 it is 1/2, a tie, so 0."""
    sixth = np.float32(1) / np.float32(6)
    assert Fraction(float(sixth)) * 3 > Fraction(1, 2)
    assert requantize(3, sixth) == 0


@pytest.mark.parametrize(
    ("scale", "want"),
    [
        (np.nan, [0, 0, 0, 0, 0]),
        (-np.nan, [0, 0, 0, 0, 0]),
        (np.inf, [0, 127, -128, 127, -128]),
        (-np.inf, [0, -128, 127, -128, 127]),
        (0.0, [0, 0, 0, 0, 0]),
        (-0.0, [0, 0, 0, 0, 0]),
        (np.finfo(np.float32).max, [0, 127, -128, 127, -128]),
        (np.finfo(np.float32).smallest_subnormal, [0, 0, 0, 0, 0]),
        (np.finfo(np.float32).tiny, [0, 0, 0, 0, 0]),
        (-np.nextafter(np.finfo(np.float32).tiny, np.float32(0)), [0, 0, 0, 0, 0]),
        (1.0, [0, 1, -1, 127, -128]),
        (-1.0, [0, -1, 1, -128, 127]),
    ],
)
def test_special_scales_have_a_result(scale, want):
    x = np.array([0, 1, -1, (1 << 31) - 1, -(1 << 31)], np.int32)
    got = requantize(x, np.float32(scale))
    assert got.dtype == np.int8
    assert got.tolist() == want


@pytest.mark.parametrize("bits", [0x7F80_0001, 0xFFBF_FFFF, 0x7FC0_0000, 0xFFFF_FFFF])
def test_every_nan_gives_zero(bits):
    assert requantize([5, -5], scale_from_bits(bits)).tolist() == [0, 0]


def test_int32_outputs_saturate_at_their_exact_bounds():
    low, high = -(1 << 31), (1 << 31) - 1
    got = requantize([high, low, high], [1.0, 1.0, -2.0], low=low, high=high)
    assert got.dtype == np.int32
    assert got.tolist() == [high, low, low]


@pytest.mark.parametrize(
    ("low", "high", "kind"),
    [
        (-128, 127, np.int8),
        (0, 255, np.uint8),
        (-17, 238, np.int16),
        (0, 65535, np.uint16),
        (-1, 40000, np.int32),
        (0, 1 << 32, np.int64),
    ],
)
def test_the_result_has_the_smallest_type(low, high, kind):
    assert requantize(np.zeros(3, np.int32), 1.0, low=low, high=high).dtype == kind


def test_an_impossible_range_is_refused():
    with pytest.raises(ValueError, match=r"5\.\.4 is not a range"):
        requantize(0, 1.0, low=5, high=4)


def test_scales_per_column_and_per_row():
    x = np.full((2, 3), 100, np.int32)
    assert requantize(x, np.array([1, 0.5, 0.1], np.float32)).tolist() == [[100, 50, 10]] * 2
    assert requantize(x, np.array([[1], [0.5]], np.float32)).tolist() == [[100] * 3, [50] * 3]


def test_the_shared_vectors():
    with np.load(VECTORS / "requant.npz") as given_vectors:
        data = dict(given_vectors)
    acc, scale = data["acc"], data["scale"]
    unsigned = requantize(acc, scale, low=-17, high=255 - 17).astype(np.int32) + 17
    for got, name in (
        (requantize(acc, scale), "s8"),
        (requantize(acc, scale, low=-32768, high=32767), "s16"),
        (unsigned, "u8_zp17"),
        (requantize(acc, scale[0]), "tensor_s8"),
        (requantize(acc, -scale), "negative_s8"),
        (requantize(data["tie_acc"], np.float32(0.5)), "tie_half_s8"),
    ):
        np.testing.assert_array_equal(got, data[name], err_msg=name)


@pytest.mark.parametrize("scale", [1.0, -1.0, 0.5, 0.3, 1 / 3, -7.25, 1e-3, 127.5])
def test_mvin_scale_of_every_int8(scale):
    x = np.arange(-128, 128).astype(np.int8)
    bits = struct.unpack("<I", struct.pack("<f", scale))[0]
    got = mvin_scale(x, scale_from_bits(bits))
    assert got.dtype == np.int8
    assert got.tolist() == [exact_requantize(int(value), bits, -128, 127) for value in x]


@given(bits=BITS.filter(is_finite))
def test_scale_from_bits_is_the_float_of_these_bits(bits):
    assert float(scale_from_bits(bits)) == struct.unpack("<f", struct.pack("<I", bits))[0]


def test_scale_from_bits_refuses_what_is_no_word():
    with pytest.raises(OverflowError):
        scale_from_bits(1 << 32)


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


@pytest.mark.parametrize(
    ("left", "right", "kind"),
    [(-128, -128, np.int8), (255, -128, np.int16), (1 << 30, 1 << 20, np.int64)],
)
def test_exact_matmul_of_extremes(left, right, kind):
    a, b = np.full((2, 768), left, kind), np.full((768, 3), right, kind)
    got = exact_matmul(a, b)
    assert got.dtype == np.int64
    assert got.tolist() == [[768 * left * right] * 3] * 2


def test_exact_matmul_is_exact_where_float64_is_not():
    """2^53 + 1 is the first integer that float64 lacks."""
    a = np.array([[1 << 53, 1]], np.int64)
    assert exact_matmul(a, np.array([[1], [1]])).item() == (1 << 53) + 1


def test_exact_matmul_says_when_int64_is_too_small():
    a = np.array([[1 << 40, 1]], np.int64)
    assert exact_matmul(a, np.array([[1 << 22], [-1]])).item() == (1 << 62) - 1
    with pytest.raises(OverflowError):
        exact_matmul(a, np.array([[1 << 40], [0]]))


def test_exact_matmul_takes_only_integers():
    with pytest.raises(TypeError, match="float64 is not an integer"):
        exact_matmul(np.ones((1, 1)), np.ones((1, 1), np.int8))


@pytest.mark.parametrize("shape", [(0, 3, 2), (2, 0, 3), (2, 3, 0)])
def test_exact_matmul_of_nothing(shape):
    m, k, n = shape
    got = exact_matmul(np.ones((m, k), np.int32), np.ones((k, n), np.int32))
    assert got.shape == (m, n)
    assert not got.any()
