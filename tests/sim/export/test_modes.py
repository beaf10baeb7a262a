"""The page of the lanes' modes shows the whole table."""

from dataclasses import asdict

import pytest

from celosia.hw.vector.modes import CONTROLS
from celosia.sim.export.modes import mode_page


@pytest.mark.parametrize("mode", CONTROLS, ids=lambda mode: mode.name)
def test_a_row_says_what_a_mode_does_in_each_stage(mode):
    (line,) = [line for line in mode_page().splitlines() if line.startswith(f"| {mode.name} |")]
    _, *cells = line.strip("| ").split(" | ")
    assert cells == [choice.value for choice in asdict(CONTROLS[mode]).values()]


def test_every_column_says_which_stages_it_is_of():
    text = mode_page()
    for column in asdict(next(iter(CONTROLS.values()))):
        assert f"\n- {column}: stage" in text
