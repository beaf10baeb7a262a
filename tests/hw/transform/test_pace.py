"""`Pace`: how far apart steps are kept."""

import random
from dataclasses import dataclass

import pytest

from celosia.hw.transform.pace import Pace
from celosia.hw.vector.polynomial import Polynomial
from celosia.hw.vector.scaler import Scaler
from celosia.isa.config import AcceleratorConfig
from tests.support.streams import simulate

TURN = Scaler.LATENCY


@dataclass
class Step:
    """What matters of a step here."""

    parts: int = 1
    result: bool = True
    words: int = 1
    scaled: bool = False
    rescaled: bool = False
    whole: bool = False

    def fields(self) -> dict[str, int]:
        names = ("result", "scaled", "rescaled", "whole")
        values = {name: getattr(self, name) for name in names}
        return values | {"last_part": self.parts - 1, "last_word": self.words - 1}


def earliest(steps: list[Step]) -> list[int]:
    """The first cycles in which `steps` may be accepted.

    The words are cut in as many cycles from the one on in which the last part has been gathered,
    and no part of another result may come before what it replaces is cut.  Parts come to their
    modes in order, and results do.  The scaler begins with one part in a cycle; first turns wait.
    """
    accepted: list[int] = []
    cut = free = mode = apart = 0
    taken: set[int] = set()
    for step in steps:
        when, before = free, TURN * step.scaled
        turns = before + TURN * step.rescaled
        if step.result:
            when = max(when, cut - turns - (step.parts - 1), apart - turns)
        if not step.whole:
            when = max(when, mode - before)
            while step.scaled and not taken.isdisjoint(range(when, when + step.parts)):
                when += 1
            mode = when + before + step.parts
        if step.result:
            cut = when + turns + step.parts - 1 + step.words
            apart = when + turns + max(step.words, step.parts)
            if step.rescaled:
                behind = when + before + Polynomial.LATENCY
                taken.update(range(behind, behind + step.parts))
        accepted.append(when)
        free = when + step.parts
    return accepted


def accepted_at(dut: Pace, steps: list[Step]) -> tuple[list[int], int]:
    """When `dut` lets each of `steps` be accepted, and in how many cycles parts entered."""
    accepted, entering = [], 0

    async def testbench(ctx):
        nonlocal entering
        cycle = 0
        ctx.set(dut.coming, steps[0].fields())
        ctx.set(dut.taken, 1)
        await ctx.tick()
        ctx.set(dut.taken, 0)
        for step, behind in zip(steps, [*steps[1:], Step()], strict=True):
            ctx.set(dut.step, step.fields())
            ctx.set(dut.coming, behind.fields())
            while ctx.get(dut.entering) or ctx.get(dut.early) or ctx.get(dut.behind):
                entering += ctx.get(dut.entering)
                await ctx.tick()
                cycle += 1
            ctx.set(dut.accepted, 1)
            ctx.set(dut.taken, 1)
            accepted.append(cycle)
            await ctx.tick()
            cycle += 1
            ctx.set(dut.accepted, 0)
            ctx.set(dut.taken, 0)

    simulate(dut, testbench)
    return accepted, entering


def random_steps(rng: random.Random, parts: int, count: int) -> list[Step]:
    """Steps of all kinds; some follow others of the same turns."""
    steps: list[Step] = []
    while len(steps) < count:
        scaled, rescaled = rng.random() < 0.5, rng.random() < 0.5
        for _ in range(rng.choice((1, 2, 9))):
            whole = rng.random() < 0.2
            result = rng.random() < 0.7 and not whole
            turns = scaled and not whole, rescaled and not whole
            length = 1 if whole else rng.randint(1, parts)
            steps.append(Step(length, result, rng.randint(1, 4), *turns, whole))
    return steps


@pytest.mark.parametrize("lanes", [16, 8, 4, 1])
def test_steps_are_accepted_as_early_as_lanes_and_words_allow(lanes):
    config = AcceleratorConfig(vector_lanes=lanes)
    steps = random_steps(random.Random(lanes), config.row_parts, 300)
    accepted, entering = accepted_at(Pace(config), steps)
    assert accepted == earliest(steps)
    assert entering == sum(step.parts - 1 for step in steps[:-1])


@pytest.mark.parametrize(("parts", "words"), [(1, 4), (2, 4), (4, 4), (4, 1), (4, 2)])
def test_a_row_takes_as_many_cycles_as_it_has_parts_or_words(parts, words):
    took = max(parts, words)
    assert earliest([Step(parts, words=words)] * 3) == [0, took, 2 * took]


def test_steps_of_the_same_turns_never_wait_unless_they_take_both():
    for scaled, rescaled in ((True, False), (False, True)):
        steps = [Step(scaled=scaled, rescaled=rescaled)] * 100
        assert earliest(steps) == [*range(100)]
    both = earliest([Step(scaled=True, rescaled=True)] * 100)
    assert 170 < both[-1] < 200
