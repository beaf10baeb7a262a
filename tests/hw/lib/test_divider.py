"""`Divider` against Python's division."""

import random

import pytest

from celosia.hw.lib.divider import Divider
from tests.support.registers import reset_registers
from tests.support.streams import simulate

WORD = (1 << 32) - 1
EDGES = [1, 2, 3, 4, 5, 255, 256, 257, 4095, 4096, (1 << 31) - 1, 1 << 31, WORD - 1, WORD]


def run(divisions: list[tuple[int, int, int]], gaps: bool = False) -> list[int]:
    """Check each quotient of ``(carry, dividend, divisor)``; returns when they came."""
    dut, arrivals, rng = Divider(), [], random.Random(0)

    async def bench(ctx):
        waiting, due, cycle, pause = list(divisions), [], 0, 0
        while waiting or due:
            offered = bool(waiting) and pause == 0
            ctx.set(dut.request.valid, offered)
            names = ("carry", "dividend", "divisor")
            numbers = waiting[0] if offered else (rng.getrandbits(1), *[rng.getrandbits(32)] * 2)
            ctx.set(dut.request.p, dict(zip(names, numbers, strict=True)))
            if ctx.get(dut.done):
                accepted, quotient = due.pop(0)
                assert ctx.get(dut.quotient) == quotient
                assert cycle - accepted == Divider.LATENCY
                arrivals.append(cycle)
            if offered and ctx.get(dut.request.ready):
                carry, dividend, divisor = waiting.pop(0)
                due.append((cycle, ((carry << 32) + dividend) // divisor))
                pause = rng.choice((0, 0, 3, 25)) if gaps else 0
            elif pause:
                pause -= 1
            await ctx.tick()
            cycle += 1
        for _ in range(Divider.LATENCY + 2):
            assert not ctx.get(dut.done)
            await ctx.tick()

    simulate(dut, bench, deadline=50 * len(divisions) + 100)
    return arrivals


def test_extremes():
    run([(0, dividend, divisor) for dividend in [0, *EDGES] for divisor in EDGES])
    run([(1, dividend, divisor) for dividend in (0, WORD) for divisor in EDGES[1:]])


@pytest.mark.parametrize("gaps", [False, True])
def test_random_numbers_of_every_size(gaps):
    rng = random.Random(4)
    divisions = []
    for _ in range(300):
        divisor = (rng.getrandbits(32) >> rng.randrange(32)) or 1
        carry = rng.getrandbits(1) if divisor > 1 else 0
        divisions.append((carry, rng.getrandbits(32) >> rng.randrange(32), divisor))
    run(divisions, gaps)


def test_a_division_in_as_many_cycles_as_documented():
    assert run([(1, 0, 3 + n) for n in range(10)]) == [Divider.LATENCY * (n + 1) for n in range(10)]


def test_a_divisor_of_zero_ends_like_others():
    dut = Divider()

    async def bench(ctx):
        ctx.set(dut.request.valid, 1)
        await ctx.tick()
        ctx.set(dut.request.valid, 0)
        for _ in range(Divider.LATENCY - 1):
            assert not ctx.get(dut.done)
            await ctx.tick()
        assert ctx.get(dut.done)

    simulate(dut, bench)


def test_a_reset_sets_only_that_nothing_is_divided():
    """Nobody looks at the rest before it was written."""
    assert {*reset_registers(Divider())} == {"running"}
