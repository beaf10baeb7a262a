"""GELU, SiLU, HardSwish: every operand, their errors, and the widths stated for them."""

from math import erf, exp, sqrt

import numpy as np
import pytest

from celosia.isa.numerics import (
    GELU,
    GELU_FRACTION_BITS,
    GELU_SCALE,
    GeluConstants,
    gelu,
    raw_gelu,
    requantize_to,
)
from celosia.isa.numerics.activation import (
    GELU_CURVE,
    HARDSWISH_CURVE,
    HARDSWISH_FRACTION_BITS,
    HARDSWISH_SCALE,
    SIGMOID_ONE,
    SIGMOID_STEP_BITS,
    SIGMOIDS,
    SILU_CURVE,
    SILU_FRACTION_BITS,
    SILU_SCALE,
    Curve,
    raw_hardswish,
    raw_silu,
)
from celosia.isa.numerics.exponential import EXPONENT, ExponentConstants, exponent
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


def real_silu(q):
    x = q / 2**SILU_FRACTION_BITS
    return x / (1 + exp(-x))


def test_every_silu_agrees_with_python():
    got = raw_silu(EVERY)
    assert got.dtype == np.int32
    assert got.tolist() == [reference.silu(q) for q in EVERY.tolist()]


def test_the_error_of_silu_is_below_a_thousandth():
    real = np.array([real_silu(q) for q in EVERY.tolist()])
    error = np.abs(raw_silu(EVERY) * SILU_SCALE - real)
    assert 7.8e-4 < error.max() < 7.9e-4
    assert error[np.abs(EVERY) > 12 << SILU_FRACTION_BITS].max() < 1.2e-4


def test_widths_of_every_intermediate_of_silu():
    exponents = exponent(-np.abs(EVERY.astype(np.int64))).astype(np.int64)
    assert int(exponents.max()).bit_length() == 16
    falls = -np.diff(SIGMOIDS)
    assert len(SIGMOIDS) == (1 << 16 - SIGMOID_STEP_BITS) + 1
    assert SIGMOIDS[0] == SIGMOID_ONE
    assert SIGMOID_ONE.bit_length() == 17
    assert falls.min() > 0
    assert falls.max() == falls[0]
    assert (int(falls[0]).bit_length(), (int(falls[0]) * 1023).bit_length()) == (11, 21)
    raw = raw_silu(EVERY).astype(np.int64)
    assert raw.max() == 32767 << 16
    assert raw.min() * SILU_SCALE == pytest.approx(-0.2778, abs=1e-4)


def test_constants_for_another_fraction_of_silu():
    """With 11 fraction bits, as long as the exponential of 0 is the same."""
    finer = ExponentConstants(ln2=1420, inverse_ln2=11815, b=5544, c=11710980, shift=8)
    assert finer.one == EXPONENT.one
    real = np.array([real_silu(q / 2) for q in EVERY.tolist()])
    assert np.abs(raw_silu(EVERY, finer) * (SILU_SCALE / 2) - real).max() < 7.9e-4


@pytest.mark.parametrize("q", [1 << 15, -(1 << 15) - 1])
def test_a_wider_operand_of_silu_is_refused(q):
    with pytest.raises(ValueError, match=rf"^silu: {q} is not in -32768\.\.32767$"):
        raw_silu([q])


def real_hardswish(x):
    """As MobileNetV3 (Howard et al., 2019) defines it."""
    return 0.0 if x <= -3 else x if x >= 3 else x * (x + 3) / 6


def test_every_hardswish_agrees_with_python():
    got = raw_hardswish(EVERY)
    assert got.dtype == np.int32
    assert got.tolist() == [reference.hardswish(q) for q in EVERY.tolist()]


def test_hardswish_has_no_error_of_its_own():
    """All that is lost is what rounding its operand and its result loses."""
    real = [real_hardswish(q / 2**HARDSWISH_FRACTION_BITS) for q in EVERY.tolist()]
    np.testing.assert_allclose(raw_hardswish(EVERY) * HARDSWISH_SCALE, real, rtol=1e-15, atol=0)


def test_widths_of_every_intermediate_of_hardswish():
    raw = raw_hardswish(EVERY).astype(np.int64)
    assert raw.min() == -(1536**2)
    assert (raw.max(), int(raw.max()).bit_length()) == (32767 * 6144, 28)


@pytest.mark.parametrize("q", [1 << 15, -(1 << 15) - 1])
def test_a_wider_operand_of_hardswish_is_refused(q):
    with pytest.raises(ValueError, match=rf"^hardswish: {q} is not in -32768\.\.32767$"):
        raw_hardswish([q])


@pytest.mark.parametrize("spread", [0.2, 0.3, 0.5, 1.0, 2.0, 3.0])
def test_hardswish_of_normal_numbers(spread):
    assert signal_to_noise(HARDSWISH_CURVE, spread, of=HARDSWISH_CURVE) > 35


@pytest.mark.parametrize("curve", [GELU_CURVE, SILU_CURVE, HARDSWISH_CURVE])
def test_the_real_curves_have_their_least_values(curve):
    values = [curve.real(q / 1000) for q in range(-8000, 8000)]
    assert curve.least < min(values) < curve.least + 1e-3
    assert curve.real(-800.0) == 0
    assert curve.real(800.0) == 800


def signal_to_noise(curve: Curve, spread: float, *, of: Curve = SILU_CURVE, factor: float = 1.0):
    """What int8 from `of` at `factor` times the operand keeps of `curve` of N(0, `spread`), in dB.

    The step of the results is that of a quantizer: the largest is 127.
    """
    x = np.random.default_rng(0).normal(0, spread, 20_000)
    q = requantize_to(np.rint(x * 2**20).astype(np.int64), factor / 2**10, np.int16)
    real = np.array([curve.real(each) for each in x.tolist()])
    step = np.abs(real).max() / 127
    got = requantize_to(of.raw(q, {}), of.unit / factor / step, np.int8) * step
    return 10 * np.log10(np.square(real).sum() / np.square(got - real).sum())


SPREADS = [0.2, 0.3, 0.5, 1.0, 2.0, 3.0]


@pytest.mark.parametrize("spread", SPREADS)
def test_silu_of_normal_numbers(spread):
    assert signal_to_noise(SILU_CURVE, spread) > 35


@pytest.mark.parametrize("spread", SPREADS)
def test_silu_is_a_gelu_as_well(spread):
    """GELU's own polynomial has a kink at 0, which is most of what small operands see."""
    assert signal_to_noise(GELU_CURVE, spread, factor=1.702) > 32


@pytest.mark.parametrize(
    ("spread", "low", "high"), [(0.05, 20, 22), (0.2, 23, 25), (0.3, 26, 27), (0.5, 30, 31)]
)
def test_gelu_of_normal_numbers(spread, low, high):
    assert low < signal_to_noise(GELU_CURVE, spread, of=GELU_CURVE) < high
