"""GELU: every operand, its error, and the widths that are stated for it."""

from math import erf, sqrt

import numpy as np
import pytest

from celosia.isa.numerics import (
    GELU,
    GELU_FRACTION_BITS,
    GELU_SCALE,
    GeluConstants,
    gelu,
    raw_gelu,
)
from tests.support import integer_reference as reference

EVERY = np.arange(-(1 << 15), 1 << 15).astype(np.int16)


def real_gelu(q):
    x = q / 2**GELU_FRACTION_BITS
    return x * (1 + erf(x / sqrt(2))) / 2


def test_every_operand_agrees_with_python():
    got = raw_gelu(EVERY)
    assert got.dtype == np.int32
    assert got.tolist() == [reference.gelu(q) for q in EVERY.tolist()]


def test_the_error_is_below_a_fiftieth():
    real = np.array([real_gelu(q) for q in EVERY.tolist()])
    error = np.abs(raw_gelu(EVERY) * GELU_SCALE - real)
    # The slope for large operands is 1.0004 because the constants are rounded.
    near = np.abs(EVERY) < 8 << GELU_FRACTION_BITS
    assert 0.018 < error[near].max() < 0.0183
    assert (error <= 0.0183 + 5e-4 * np.abs(real)).all()


def test_widths_of_every_intermediate():
    a = np.minimum(np.abs(EVERY.astype(np.int64)), GELU.b)
    square = (GELU.b - a) ** 2
    y = GELU.c - square
    plus_one = np.where(EVERY < 0, -y, y) + GELU.c >> GELU.shift
    raw = raw_gelu(EVERY)
    assert int((GELU.b - a).max()).bit_length() == 12
    assert int(square.max()).bit_length() == int(y.max()).bit_length() == 23
    assert (plus_one.min(), int(plus_one.max()).bit_length()) == (0, 15)
    assert -(1 << 30) <= raw.min() <= raw.max() < 1 << 30
    assert int(raw.max()).bit_length() == 30
    assert raw.max() == 929435955


def test_far_operands_are_themselves_or_nothing():
    assert raw_gelu(-GELU.b) == raw_gelu(-32768) == raw_gelu(0) == 0
    beyond = np.arange(GELU.b, 1 << 15)
    np.testing.assert_array_equal(raw_gelu(beyond), beyond * (2 * GELU.c >> GELU.shift))


@pytest.mark.parametrize(("kind", "zero_point"), [(np.uint8, 9), (np.int8, 0), (np.int16, 0)])
def test_requantized_gelu_agrees_with_python(kind, zero_point):
    scale = np.float32(GELU_SCALE / 0.03)
    got = gelu(EVERY[::37], scale, kind, zero_point=zero_point)
    assert got.dtype == kind
    bits, name = int(scale.view(np.uint32)), np.dtype(kind).name
    assert got.tolist() == [
        reference.requantize(reference.gelu(q), bits, name, zero_point)
        for q in EVERY[::37].tolist()
    ]


@pytest.mark.parametrize("q", [1 << 15, -(1 << 15) - 1])
def test_a_wider_operand_is_refused(q):
    with pytest.raises(ValueError, match=rf"^gelu: {q} is not in -32768\.\.32767$"):
        raw_gelu([q])


def test_other_constants():
    finer = raw_gelu(EVERY, GeluConstants(shift=8)).astype(np.int64)
    assert np.abs(finer - 2 * raw_gelu(EVERY).astype(np.int64)).max() <= 32768


@pytest.mark.parametrize(
    ("constants", "message"),
    [
        ({"b": -1}, r"b: -1 is not in 0\.\.32768"),
        ({"shift": 32}, r"shift: 32 is not in 0\.\.31"),
        ({"c": 3281921}, r"c: 3281921 is not in 3281922\.\.1073741823"),
        ({"shift": 7}, r"2 \* c >> shift: 113462 is not in 0\.\.65535"),
    ],
)
def test_constants_that_break_a_width_are_refused(constants, message):
    with pytest.raises(ValueError, match=f"^gelu: {message}$"):
        GeluConstants(**constants)
