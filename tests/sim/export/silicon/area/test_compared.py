"""What one design has more than another."""

from dataclasses import replace

import pytest

from celosia.isa.presets import resolve_config
from celosia.sim.export.silicon.area.compared import FROZEN, growth, share_of_frozen
from tests.support.areas import FULL, LEAN


def test_growth():
    more = growth(FULL, LEAN)
    assert more.logic_gates == 1500
    assert more.logic == 0.5
    assert more.with_sram == (4500 + 1.5 * 90_250) / (3000 + 1.5 * 80_000) - 1
    assert more.with_sram_copies == (4500 + 1.5 * 110_250) / (3000 + 1.5 * 80_000) - 1
    assert more.counted_gates == 2500
    assert more.counted == (5500 + 1.5 * 90_000) / (3000 + 1.5 * 80_000) - 1
    assert more.counted_copies == (5500 + 1.5 * 110_000) / (3000 + 1.5 * 80_000) - 1


def test_what_is_smaller_has_grown_by_less_than_nothing():
    """The other design's small memories count as latches, too."""
    less = growth(LEAN, FULL)
    assert less.logic_gates == -1500
    assert less.logic == -1500 / 4500
    assert less.with_sram == (3000 + 1.5 * 80_000) / (4500 + 1.5 * 90_250) - 1
    assert less.with_sram_copies == (3000 + 1.5 * 80_000) / (4500 + 1.5 * 110_250) - 1
    assert less.counted_gates == -2500
    assert less.counted == (3000 + 1.5 * 80_000) / (5500 + 1.5 * 90_000) - 1
    assert less.counted_copies == (3000 + 1.5 * 80_000) / (5500 + 1.5 * 110_000) - 1


def test_nothing_more():
    assert growth(LEAN, LEAN).logic_gates == growth(LEAN, LEAN).counted == 0


@pytest.mark.parametrize(
    "overrides", [[], ["vector_lanes=4", "transform_queue=8"], ["scale_bits=8"]]
)
def test_a_share_of_the_frozen_design(overrides):
    """The share is one of a design that was measured once, not of what the lean design is today."""
    lean = replace(LEAN, config=resolve_config("base", ["normalization=false", *overrides]))
    share = share_of_frozen(FULL, lean)
    assert share is not None
    assert share.logic == 1500 / 799_700
    assert share.with_sram == pytest.approx((1500 + 1.5 * 10_250) / (799_700 + 1.5 * 2_766_800))
    assert (share.of, share.source) == (FROZEN.name, FROZEN.source)


def test_what_is_not_the_frozen_design_has_no_share_of_it():
    assert share_of_frozen(FULL, LEAN) is None
