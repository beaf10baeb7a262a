"""The exponential: every distance, its error, and the widths that are stated for it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.isa.numerics import EXPONENT, EXPONENT_FRACTION_BITS, ExponentConstants, exponent
from celosia.isa.numerics.exponential import exponent_constants
from tests.support import integer_reference as reference

EVERY = np.arange(EXPONENT.lowest - 100, 1)


def test_every_distance_agrees_with_python():
    got = exponent(EVERY)
    assert got.dtype == np.uint16
    assert got.tolist() == [reference.exponent(d) for d in EVERY.tolist()]


def test_the_error_is_below_two_thousandths():
    real = np.exp(EVERY / 2**EXPONENT_FRACTION_BITS)
    error = np.abs(exponent(EVERY) / EXPONENT.one - real).max()
    assert 1.92e-3 < error < 1.93e-3


def test_it_never_falls():
    """So that the maximum of a row of scores is the maximum of its exponents."""
    assert (np.diff(exponent(EVERY).astype(int)) >= 0).all()
    assert int(exponent(0)) == EXPONENT.one == 45746


@given(d=st.integers(-(1 << 31), EXPONENT.lowest))
def test_far_distances_give_zero(d):
    assert int(exponent(d)) == 0


def test_widths_of_every_intermediate():
    d = np.arange(EXPONENT.lowest, 1, dtype=np.int64)
    product = -d * EXPONENT.inverse_ln2
    z = product >> 24
    r = d + z * EXPONENT.ln2
    p = (r + EXPONENT.b) * r + EXPONENT.c
    assert int(d.min()).bit_length() < 16
    assert int(product.max()).bit_length() == 29
    assert (z.min(), z.max()) == (0, 30)
    np.testing.assert_array_equal(z, -d // EXPONENT.ln2)
    assert (r.min(), r.max()) == (-709, 0)
    assert (p.min(), p.max()) == (1465078, 2927745)
    assert int(p.max()).bit_length() == 22
    assert int(exponent(0)).bit_length() == 16


@pytest.mark.parametrize("d", [1, 1 << 31])
def test_a_positive_distance_is_refused(d):
    with pytest.raises(ValueError, match=rf"^exponent: distance: {d} is not in -2147483648\.\.0$"):
        exponent([0, d])


def test_other_constants():
    """Half the resolution of the result: every numerator is halved, up to rounding."""
    halved = exponent(EVERY, ExponentConstants(shift=7)).astype(int)
    assert np.abs(2 * halved - exponent(EVERY)).max() <= 2


def test_constants_from_the_fields_of_a_command():
    """A command has the distance's magnitude, and the unit beside the constants."""
    fields = {"ln2": 709, "inverse_ln2": 23663, "b": 2700, "c": 2927000, "shift": 7}
    wanted = ExponentConstants(**fields, lowest=-21000)
    for _ in range(2):  # The second time, they are known.
        assert exponent_constants(fields | {"lowest": 21000, "unit": 777}) == (wanted, 777)
    with pytest.raises(ValueError, match=r"^exponent: shift: 32 is not in 0\.\.31$"):
        exponent_constants(fields | {"shift": 32, "lowest": 21000, "unit": 777})


@pytest.mark.parametrize(
    ("constants", "message"),
    [
        ({"lowest": 1}, r"lowest: 1 is not in -65535\.\.0"),
        ({"lowest": -65536}, r"lowest: -65536 is not in -65535\.\.0"),
        ({"inverse_ln2": 1 << 15}, r"inverse_ln2: 32768 is not in 0\.\.32767"),
        ({"shift": 32}, r"shift: 32 is not in 0\.\.31"),
        ({"inverse_ln2": 25_000}, r"quotient: 32 is not in 0\.\.31"),
        ({"c": 1_000_000}, r"polynomial: -462667 is not in 0\.\.2147483647"),
        ({"shift": 5}, r"exp\(0\) is 91492, not in 1\.\.65535"),
        ({"shift": 22}, r"exp\(0\) is 0, not in 1\.\.65535"),
        ({"b": 0}, r"result: 53600 is not in 0\.\.45746"),
    ],
)
def test_constants_that_break_a_width_are_refused(constants, message):
    with pytest.raises(ValueError, match=f"^exponent: {message}$"):
        ExponentConstants(**constants)
