"""The table of modes is complete, and its bits say what it says."""

from dataclasses import asdict
from enum import Enum

import pytest
from amaranth import Module, Signal

from celosia.hw.vector.modes import (
    CONTROLS,
    Controls,
    Element,
    Factor,
    Left,
    Mode,
    ModeBits,
    Plus,
    Right,
    Times,
    bits_of,
    chooses,
)
from tests.support.streams import simulate

DEFAULTS: dict[str, Enum] = asdict(Controls())


def choices() -> list[Enum]:
    return [choice for default in DEFAULTS.values() for choice in type(default)]


def test_every_mode_but_the_maximum_has_controls():
    assert {*CONTROLS} == {*Mode} - {Mode.MAXIMUM}


@pytest.mark.parametrize("choice", choices(), ids=str)
def test_some_mode_wants_what_a_stage_can_do(choice):
    assert any(choice in asdict(controls).values() for controls in CONTROLS.values())


@pytest.mark.parametrize("mode", CONTROLS, ids=lambda mode: mode.name)
def test_controls_of_a_mode_fit_each_other(mode):
    """What one stage does has what it needs of those before it."""
    controls = CONTROLS[mode]
    assert (controls.left is Left.NOTHING) is (controls.right is Right.NOTHING)
    assert (controls.left is Left.SIZE) is (controls.right is Right.SIZE)
    assert (controls.left is Left.FACTOR) <= (controls.factor is not Factor.NOTHING)
    if controls.times in {Times.KEPT, Times.LESS}:
        assert controls.element is Element.PAIR
    if controls.plus is not Plus.NOTHING:
        assert controls.times is not Times.NOTHING


def test_a_mode_has_one_bit_in_each_column():
    dut, mode = Module(), Signal(Mode)
    bits, paired = Signal(ModeBits()), Signal()
    dut.d.sync += [bits.eq(bits_of(mode)), paired.eq(chooses(mode, Times.KEPT, Times.LESS))]

    async def bench(ctx):
        for known in Mode:
            ctx.set(mode, known)
            await ctx.tick()
            got = ctx.get(bits)
            assert ctx.get(paired) == (known in {Mode.MULTIPLY, Mode.SUM, Mode.DIFFERENCE})
            for name, default in DEFAULTS.items():
                names = [choice.name.lower() for choice in type(default)]
                chosen = [each for each in names if got[name][each]]
                controls = CONTROLS.get(known)
                due = [] if controls is None else [getattr(controls, name).name.lower()]
                assert chosen == due, known

    simulate(dut, bench, deadline=100)
