"""Energies of memories, by hand."""

import pytest

from celosia.sim.export.silicon.energy.memories import FORMULA, access_pj


@pytest.mark.parametrize("rows", [255, 256, 257, 1024])
def test_bit_lines_of_a_part_end_at_256_rows(rows):
    """Word lines 2.5 fF a bit, bit lines 1.8 a row, sensing 15; a read swings by a fifth."""
    wires = 0.25 * (rows * 8 * 4.65 / 0.6) ** 0.5 * 0.2
    lines = 1.8 * min(rows, 256)
    written = 8 * (2.5 + lines + wires) * 1.5**2 / 1000
    read = 8 * (2.5 + 0.2 * lines + wires + 15) * 1.5**2 / 1000
    assert access_pj(rows, 8, 1.5, write=True) == pytest.approx(written)
    assert access_pj(rows, 8, 1.5, write=False) == pytest.approx(read)


def test_sources_say_the_terms_that_are_computed():
    for word in ("256 rows", "1.8 fF of bit", "2.5 fF of word", "15 fF", "0.2 Vdd", "0.2 fF/um"):
        assert word in FORMULA
