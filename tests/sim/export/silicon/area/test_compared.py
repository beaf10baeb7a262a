"""What one design has more than another."""

from celosia.sim.export.silicon.area.compared import growth
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


def test_nothing_more():
    assert growth(LEAN, LEAN).logic_gates == growth(LEAN, LEAN).counted == 0
