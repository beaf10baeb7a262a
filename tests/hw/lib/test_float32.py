"""`Float32`, and what is rounded to its mantissa."""

import random
from collections.abc import Callable

import numpy as np
import pytest
from amaranth import Module, Signal, Value
from amaranth.sim import Simulator

from celosia.hw.lib.float32 import (
    FRACTION_BITS,
    Float32,
    round_leading,
    round_off,
    split_leading,
)
from celosia.isa.numerics.float32 import MANTISSA_BITS

SPECIAL = (0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, 1e-45, -1e-39, 3.4028235e38)
NANS = (0x7F80_0001, 0x7FC0_0000, 0x7FFF_FFFF, 0xFF80_0001, 0xFFC0_0000, 0xFFBF_FFFF)


def some_bits() -> list[int]:
    rng = random.Random(0)
    special = [int(np.float32(value).view(np.uint32)) for value in SPECIAL]
    return [*special, *NANS, *(rng.getrandbits(32) for _ in range(200))]


def evaluated(width: int, numbers: list[int], function: Callable[[Value], list]) -> list[list[int]]:
    """The values of what `function` makes of a signal of `width` bits, for each of `numbers`."""
    signal, found = Signal(width), []
    outputs = [Value.cast(each) for each in function(signal)]

    async def testbench(ctx):
        for number in numbers:
            ctx.set(signal, number)
            found.append([ctx.get(each) for each in outputs])

    simulator = Simulator(Module())
    simulator.add_testbench(testbench)
    simulator.run()
    return found


def test_its_fields_are_those_of_numpy():
    bits = some_bits()

    def fields(signal: Value) -> list:
        one = Float32(signal)
        return [one.negative, one.exponent, one.fraction, one.mantissa, one.nan, one.infinite]

    for each, found in zip(bits, evaluated(32, bits, fields), strict=True):
        value = np.uint32(each).view(np.float32)
        fraction = each % (1 << FRACTION_BITS)
        assert found == [
            np.signbit(value),
            each >> FRACTION_BITS & 0xFF,
            fraction,
            1 << FRACTION_BITS | fraction,
            np.isnan(value),
            np.isinf(value),
        ]


@pytest.mark.parametrize("mantissa_bits", [8, 12, MANTISSA_BITS])
def test_a_short_mantissa_is_the_upper_part_of_it(mantissa_bits):
    bits = some_bits()
    found = evaluated(32, bits, lambda signal: [Float32(signal, mantissa_bits).mantissa])
    whole = evaluated(32, bits, lambda signal: [Float32(signal).mantissa])
    assert found == [[mantissa >> MANTISSA_BITS - mantissa_bits] for (mantissa,) in whole]


def to_even(value: int, bits: int) -> int:
    """``value / 2^bits``, to nearest, ties to even."""
    return round(value / (1 << bits))


@pytest.mark.parametrize("bits", [1, 2, 5])
def test_round_off_rounds_to_nearest_and_ties_to_even(bits):
    numbers = list(range(1 << 10))
    found = evaluated(10, numbers, lambda signal: [round_off(signal, bits)])
    assert found == [[to_even(number, bits)] for number in numbers]


@pytest.mark.parametrize("bits", [2, 4, 6])
def test_what_leads_is_rounded_wherever_it_begins(bits):
    """The highest one is one of the two top bits."""
    numbers = [0, *range(1 << 8, 1 << 10)]
    split = evaluated(10, numbers, lambda signal: [*split_leading(signal, bits)])
    rounded = evaluated(10, numbers, lambda signal: [round_leading(signal, bits)])
    for number, (kept, up), (whole,) in zip(numbers, split, rounded, strict=True):
        dropped = max(0, number.bit_length() - bits)
        assert kept == number >> dropped
        assert kept + up == whole == to_even(number, dropped)
