"""`delay` and `tapped_delay`: what was on a signal some cycles ago."""

import random

import pytest
from amaranth import Module, Signal, signed

from celosia.hw.lib.delay import delay, tapped_delay
from tests.support.registers import reset_registers
from tests.support.streams import simulate


@pytest.mark.parametrize("cycles", [0, 1, 4])
def test_a_value_comes_so_many_cycles_later(cycles):
    m, rng = Module(), random.Random(cycles)
    value = Signal(signed(9))
    late = delay(m, value, cycles, name="late")
    numbers = [rng.randrange(-256, 256) for _ in range(20)]
    seen = []

    async def testbench(ctx):
        for number in numbers:
            ctx.set(value, number)
            seen.append(ctx.get(late))
            await ctx.tick()

    m.d.sync += Signal().eq(0)  # There is a clock, whatever the delay.
    simulate(m, testbench)
    assert seen[cycles:] == numbers[: len(numbers) - cycles]


@pytest.mark.parametrize("length", [1, 2, 5])
def test_each_tap_is_a_cycle_later_than_the_one_before(length):
    m, rng = Module(), random.Random(length)
    bit = Signal()
    taps = tapped_delay(m, bit, length, name="line")
    assert len(taps) == length
    bits = [rng.randrange(2) for _ in range(30)]

    async def testbench(ctx):
        for now, new in enumerate(bits):
            ctx.set(bit, new)
            before = [bits[now - age] if age <= now else 0 for age in range(length)]
            assert ctx.get(taps) == sum(old << age for age, old in enumerate(before))
            await ctx.tick()

    m.d.sync += Signal().eq(0)
    simulate(m, testbench)


def test_only_taps_are_reset():
    m, value = Module(), Signal(9)
    delay(m, value, 4, name="late")
    assert not reset_registers(m)
    m = Module()
    tapped_delay(m, value[0], 5, name="line")
    assert reset_registers(m) == {"line": 4}
