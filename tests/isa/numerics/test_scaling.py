"""Requantization against rational arithmetic, ties by hand, and every kind of scale."""

import struct
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.isa.numerics import (
    long_scales,
    mvin_scale,
    requantize,
    requantize_to,
    round_scales,
    scale_from_bits,
)
from celosia.isa.numerics.float32 import is_long
from tests.support import integer_reference as reference

INT32 = st.integers(-(1 << 31), (1 << 31) - 1)
BITS = st.integers(0, (1 << 32) - 1)
KINDS = st.sampled_from(["int8", "uint8", "int16"])


def is_finite(bits: int) -> bool:
    return bits >> 23 & 0xFF != 0xFF


@given(x=INT32, bits=BITS.filter(is_finite))
def test_any_finite_scale_agrees_with_rational_arithmetic(x, bits):
    scale = scale_from_bits(bits)
    assert requantize(x, scale) == reference.requantize(x, bits, "int8")
    assert requantize(x, scale, low=-(1 << 31), high=(1 << 31) - 1) == reference.requantize(
        x, bits, "int32"
    )


@given(
    x=INT32,
    exponent=st.integers(-34, 10),
    mantissa=st.integers(0, (1 << 23) - 1),
    sign=st.integers(0, 1),
)
def test_scales_whose_results_are_small_agree_with_rational_arithmetic(x, exponent, mantissa, sign):
    bits = sign << 31 | exponent + 127 << 23 | mantissa
    want = reference.requantize(x, bits, "int16")
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


@pytest.mark.parametrize("scale", [1.0, -1.0, 0.5, 0.3, 1 / 3, -7.25, 1e-3, 127.5])
def test_mvin_scale_of_every_int8(scale):
    x = np.arange(-128, 128).astype(np.int8)
    bits = struct.unpack("<I", struct.pack("<f", scale))[0]
    got = mvin_scale(x, scale_from_bits(bits))
    assert got.dtype == np.int8
    assert got.tolist() == [reference.requantize(int(value), bits, "int8") for value in x]


@given(bits=BITS.filter(is_finite))
def test_scale_from_bits_is_the_float_of_these_bits(bits):
    assert float(scale_from_bits(bits)) == struct.unpack("<f", struct.pack("<I", bits))[0]


def test_scale_from_bits_refuses_what_is_no_word():
    with pytest.raises(OverflowError):
        scale_from_bits(1 << 32)


@given(x=INT32, bits=BITS, kind=KINDS, zero_point=st.integers(0, 255), rectify=st.booleans())
def test_every_format_and_scale_agrees_with_rational_arithmetic(x, bits, kind, zero_point, rectify):
    zero_point *= kind == "uint8"
    want = reference.requantize(x, bits, kind, zero_point)
    got = requantize_to(x, scale_from_bits(bits), kind, zero_point=zero_point, rectify=rectify)
    assert got.dtype == kind
    assert got == max(want, zero_point if rectify else want)


@given(
    x=st.lists(INT32, min_size=1, max_size=20),
    exponent=st.integers(-32, 0),
    zero_point=st.integers(0, 255),
)
def test_results_in_range_agree_with_rational_arithmetic(x, exponent, zero_point):
    """Most random scales saturate or vanish; these do not."""
    scale = np.float32(1.37) * np.float32(2.0) ** exponent
    bits = int(scale.view(np.uint32))
    for kind, point in (("int8", 0), ("uint8", zero_point), ("int16", 0)):
        want = [reference.requantize(value, bits, kind, point) for value in x]
        assert requantize_to(x, scale, kind, zero_point=point).tolist() == want


@pytest.mark.parametrize("zero_point", [0, 1, 17, 254, 255])
@pytest.mark.parametrize("rectify", [False, True])
def test_the_zero_point_is_added_after_rounding_and_relu(zero_point, rectify):
    """Every tie of a byte: added before, an odd zero point would round them the other way."""
    halves = np.arange(-600, 600)
    whole = [round(Fraction(int(x), 2)) for x in halves]
    want = [max(0, min((max(x, 0) if rectify else x) + zero_point, 255)) for x in whole]
    got = requantize_to(halves, 0.5, np.uint8, zero_point=zero_point, rectify=rectify)
    assert got.tolist() == want


@pytest.mark.parametrize("kind", [np.int8, np.int16])
def test_relu_of_signed_types(kind):
    x = np.arange(-70_000, 70_000, 7)
    got = requantize_to(x, 0.5, kind, rectify=True)
    np.testing.assert_array_equal(got, np.maximum(requantize_to(x, 0.5, kind), 0))


@pytest.mark.parametrize(
    ("scale", "want"),
    [
        (np.nan, [17, 17, 17]),
        (np.inf, [17, 255, 0]),
        (-np.inf, [17, 0, 255]),
        (-0.0, [17, 17, 17]),
        (np.finfo(np.float32).smallest_subnormal, [17, 17, 17]),
    ],
)
def test_special_scales_leave_the_zero_point(scale, want):
    got = requantize_to([0, 1, -1], np.float32(scale), np.uint8, zero_point=17)
    assert got.tolist() == want


def test_one_bad_scale_does_not_touch_its_neighbors():
    scales = np.array([1, np.nan, np.inf, 1], np.float32)
    assert requantize([[3, 3, 0, 3]], scales).tolist() == [[3, 0, 0, 3]]


@pytest.mark.parametrize(
    ("kind", "zero_point", "message"),
    [
        (np.int8, 1, r"int8 zero point: 1 is not in 0\.\.0"),
        (np.int16, -1, r"int16 zero point: -1 is not in 0\.\.0"),
        (np.uint8, 256, r"uint8 zero point: 256 is not in 0\.\.255"),
        (np.int32, 0, "type: int32 is none of int8, uint8, int16"),
    ],
)
def test_a_zero_point_belongs_to_uint8(kind, zero_point, message):
    with pytest.raises(ValueError, match=f"^requantize: {message}$"):
        requantize_to([1], 1.0, kind, zero_point=zero_point)


def test_a_scale_of_more_bits_is_rounded_first():
    """415 times .3 is a tie, or above it: it depends on when the scale is rounded."""
    x = [-415, -335, 335, 415]
    assert requantize(x, 0.3).tolist() == [-125, -101, 101, 125]


@given(bits=BITS.filter(is_finite), length=st.integers(8, 24))
def test_a_rounded_scale_is_the_nearest_short_one(bits, length):
    dropped = 24 - length
    rounded = int(round_scales(scale_from_bits(bits), length).view(np.uint32))
    assert not is_long(rounded, length)
    assert rounded >> 31 == bits >> 31
    size, found, unit = bits & ~(1 << 31), rounded & ~(1 << 31), 1 << dropped
    # The bits of positive numbers are as far apart as these, within each power of two.
    nearest = round(Fraction(size, unit)) * unit
    assert found == (size and max(min(nearest, 0x7F80_0000 - unit), unit))
    assert (
        bool(long_scales(scale_from_bits(bits), length))
        == is_long(bits, length)
        == (size % unit != 0)
    )


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("length", [2, 8, 12, 23, 24])
def test_the_largest_scales_are_rounded_to_the_largest_short_one(length, sign):
    """Never to infinity, which would saturate every number but 0."""
    largest, most = np.finfo(np.float32).max, (2 - 2.0 ** (1 - length)) * 2.0**127
    just_a_tie = np.float32((2 - 2.0**-length) * 2.0**127) if length < 24 else largest
    for scale in (largest, just_a_tie, np.float32(most)):
        assert round_scales(sign * scale, length) == sign * most


@pytest.mark.parametrize(
    ("scale", "short"),
    [(1e-45, 2.0**-133), (-1e-45, -(2.0**-133)), (0.0, 0.0), (2.0**-133, 2.0**-133)],
)
def test_the_smallest_scales_stay_what_is_not_0(scale, short):
    """The smallest positive float32 of 8 bits is 2^16 times the smallest of 24, 2^-149."""
    assert round_scales(scale, 8) == np.float32(short)


def test_any_float32_has_24_bits():
    scales = np.array([0.1, -3.7, np.inf, 1e-45], np.float32)
    assert not long_scales(scales, 24).any()
    assert (round_scales(scales[:2], 24) == scales[:2]).all()


@given(x=INT32, bits=BITS.filter(is_finite), length=st.integers(8, 23))
def test_a_short_scale_does_what_any_float32_does(x, bits, length):
    scale = round_scales(scale_from_bits(bits), length)
    assert requantize(x, scale) == reference.requantize(x, int(scale.view(np.uint32)), "int8")
