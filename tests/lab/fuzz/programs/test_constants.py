"""Random constants of polynomials: legal, repeatable, and up to the limits of the widths."""

from random import Random

import numpy as np
import pytest

from celosia.isa.encoding import CONFIG_EXPONENT, CONFIG_GELU
from celosia.isa.numerics import ExponentConstants, GeluConstants, exponent, raw_gelu
from celosia.lab.fuzz.programs.constants import random_exponent_constants, random_gelu_constants


def fields(known, command):
    """The operands of a command of `known`."""
    words = {"rs1": command.rs1, "rs2": command.rs2}
    return {
        field.name: words[field.register] >> field.low & (1 << field.bits) - 1
        for field in known.operands
    }


@pytest.fixture(scope="module")
def exponents():
    random = Random(1)
    drawn = [fields(CONFIG_EXPONENT, random_exponent_constants(random)) for _ in range(200)]
    units = [one.pop("unit") for one in drawn]
    return [ExponentConstants(**one | {"lowest": -one["lowest"]}) for one in drawn], units


def test_constants_of_exponents_reach_the_limits_of_their_widths(exponents):
    constants, units = exponents
    distances = -np.arange(1 << 16)
    rests, polynomials, slopes = [], [], []
    for each in constants:
        d = np.maximum(distances, each.lowest)
        r = d + (-d * each.inverse_ln2 >> 24) * each.ln2
        rests.append(r.min())
        polynomials.append(((r + each.b) * r + each.c).max())
        slopes.append(np.diff(exponent(distances, each).astype(int)).max())
    assert min(rests) < -(1 << 15)
    assert max(polynomials) >= 1 << 24  # More than c: there are rests above 0.
    assert max(slopes) > 0  # Not every function falls.
    assert max(each.one for each in constants) >= 1 << 15
    assert min(each.one for each in constants) <= 16
    assert max(units) >= 1 << 23


def test_constants_of_gelu_reach_the_limits_of_their_widths():
    random, results = Random(1), []
    for _ in range(200):
        constants = GeluConstants(**fields(CONFIG_GELU, random_gelu_constants(random)))
        results.append(np.abs(raw_gelu([-32768, 32767], constants)).max())
    assert max(results) >= 1 << 30
    assert min(results) == 0


@pytest.mark.parametrize("draw", [random_exponent_constants, random_gelu_constants])
def test_the_same_seed_gives_the_same_constants(draw):
    assert draw(Random(3)) == draw(Random(3)) != draw(Random(4))
