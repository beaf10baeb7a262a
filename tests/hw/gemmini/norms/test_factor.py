"""`FactorUnit` against the numerics."""

import random

import numpy as np
import pytest

from celosia.hw.gemmini.norms.factor import FactorUnit, Wanted
from celosia.isa.numerics import inverse_deviation, inverse_sum, scale_from_bits, truncated_mean
from tests.support.streams import simulate

SCALES = [0x3F800000, 0x3E99999A, 0xBF000000, 0x42C80000, 0, 0x80000000, 1, 0x7F7FFFFF,
          0x7F800000, 0xFF800000, 0x7FC00000, 0x00800000]  # fmt: skip
TOTALS = [0, 1, -1, 2, 3, 127, 1000, (1 << 24) + 1, (1 << 24) + 3, 33554431, (1 << 31) - 1,
          -(1 << 31), 16777215, 8388609]  # fmt: skip


def wanted_bits(wanted: Wanted, total: int, count: int, scale: int) -> int:
    if wanted is Wanted.MEAN:
        return truncated_mean(total, count) & 0xFFFF_FFFF
    number = np.float32(scale_from_bits(scale))
    if wanted is Wanted.DEVIATION:
        return int(np.float32(inverse_deviation(total, count, number)).view(np.uint32))
    return int(np.float32(inverse_sum(total, number)).view(np.uint32))


def same(got: int, expected: int) -> bool:
    exponent = expected >> 23 & 255
    if exponent == 255 and expected & 0x7FFFFF:
        return got >> 23 & 255 == 255 and bool(got & 0x7FFFFF)
    if exponent < 30:  # Numbers below 2^-96 make the same of every integer as 0 does.
        return got >> 23 & 255 < 30
    return got == expected


@pytest.mark.parametrize("wanted", list(Wanted))
def test_results_are_those_of_the_numerics(wanted):
    rng = random.Random(wanted.value)
    cases = [(total, 3, rng.choice(SCALES)) for total in TOTALS] + [(9, 1, s) for s in SCALES]
    for _ in range(60):
        total = rng.getrandbits(32) - (1 << 31) >> rng.randrange(32)
        scale = rng.choice([rng.getrandbits(32), 0x3F800000, 0x3C000001 + rng.getrandbits(20)])
        cases.append((total, rng.choice([1, 2, 4, 100, rng.randint(1, 5000)]), scale))
    check([(wanted, *case) for case in cases])


def test_the_mean_of_as_many_as_a_word_counts():
    """The rest of a division has as many bits as the largest count."""
    most = (1 << 32) - 1
    totals = (-(1 << 31), (1 << 31) - 1, 1 - (1 << 31))
    counts = (1 << 30, (1 << 31) - 1, 1 << 31, (1 << 31) + 1, most - 1, most)
    check([(Wanted.MEAN, total, count, 0) for total in totals for count in counts])


def test_nothing_is_left_of_the_factor_before():
    """An infinity, a root and a sign: each kind comes behind each other."""
    odd = {
        Wanted.MEAN: (-7, 3, 0),
        Wanted.DEVIATION: (50, 2, SCALES[2]),
        Wanted.PROBABILITY: (0, 1, SCALES[0]),
    }
    pairs = [(one, other) for one in Wanted for other in Wanted]
    check([(wanted, *odd[wanted]) for pair in pairs for wanted in pair])


def check(cases: list[tuple[Wanted, int, int, int]]) -> None:
    """Factors of what is wanted, total, count and scale, one behind the other."""
    dut = FactorUnit()

    async def testbench(ctx):
        for wanted, total, count, scale in cases:
            ctx.set(dut.wanted, wanted)
            ctx.set(dut.total, total)
            ctx.set(dut.count, count)
            ctx.set(dut.scale, scale)
            ctx.set(dut.start, 1)
            await ctx.tick()
            ctx.set(dut.start, 0)
            cycles = 0
            while not ctx.get(dut.done):
                await ctx.tick()
                cycles += 1
            assert cycles < FactorUnit.MOST_CYCLES
            got, expected = ctx.get(dut.result), wanted_bits(wanted, total, count, scale)
            same_bits = got == expected if wanted is Wanted.MEAN else same(got, expected)
            assert same_bits, (total, count, hex(scale), hex(got), hex(expected))
            await ctx.tick()

    simulate(dut, testbench, deadline=300_000)
