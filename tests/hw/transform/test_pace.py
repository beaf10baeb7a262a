"""`Pace`: how far apart steps are kept."""

import random

import pytest

from celosia.hw.transform.pace import Pace
from celosia.isa.config import AcceleratorConfig
from tests.support.streams import simulate

MOST_WORDS = 4


def earliest(steps: list[tuple[int, bool, int]]) -> list[int]:
    """The first cycles in which `steps` may be accepted: parts, whether with a result, its words.

    The words are cut in as many cycles from the one on in which the last part has been gathered,
    and no part of another result may come before what it replaces is cut.
    """
    accepted: list[int] = []
    cut = free = apart = 0
    for parts, result, words in steps:
        when = free
        if result:
            when = max(when, cut - (parts - 1), apart)
            cut, apart = when + parts - 1 + words, when + words
        accepted.append(when)
        free = when + parts
    return accepted


@pytest.mark.parametrize("lanes", [16, 8, 4, 1])
def test_steps_are_accepted_as_early_as_their_parts_and_words_allow(lanes):
    config, rng = AcceleratorConfig(vector_lanes=lanes), random.Random(lanes)
    steps = [
        (rng.randint(1, config.row_parts), rng.random() < 0.7, rng.randint(1, MOST_WORDS))
        for _ in range(200)
    ]
    dut, accepted, entering = Pace(config), [], 0

    async def testbench(ctx):
        nonlocal entering
        cycle = 0
        for parts, result, words in steps:
            ctx.set(dut.last_part, parts - 1)
            ctx.set(dut.result, result)
            ctx.set(dut.last_word, words - 1)
            while ctx.get(dut.entering) or ctx.get(dut.early):
                entering += ctx.get(dut.entering)
                await ctx.tick()
                cycle += 1
            ctx.set(dut.accepted, 1)
            accepted.append(cycle)
            await ctx.tick()
            cycle += 1
            ctx.set(dut.accepted, 0)

    simulate(dut, testbench)
    assert accepted == earliest(steps)
    assert entering == sum(parts - 1 for parts, _, _ in steps[:-1])


@pytest.mark.parametrize(("parts", "words"), [(1, 4), (2, 4), (4, 4), (4, 1), (4, 2)])
def test_a_row_takes_as_many_cycles_as_it_has_parts_or_words(parts, words):
    assert earliest([(parts, True, words)] * 3) == [0, max(parts, words), 2 * max(parts, words)]
