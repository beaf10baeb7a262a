"""Windows of a run that are recorded together."""

import numpy as np

from celosia.sim.export.silicon.power.recording import cut_windows, joined_windows
from celosia.sim.export.silicon.power.waves import Recorded


def test_windows_that_touch_are_one_part_of_the_file():
    windows = [(10, 20), (15, 25), (25, 30), (31, 40), (32, 36)]
    assert joined_windows(windows) == [(10, 30), (31, 40)]


def test_each_window_is_cut_out_of_its_part():
    signals = {"x": np.arange(10, 30, dtype=np.uint8).reshape(-1, 1)}
    found = cut_windows({"top": Recorded(signals)}, (10, 30), [(10, 20), (15, 25)])
    assert [each["top"].signals["x"].ravel().tolist() for each in found] == [
        [*range(10, 20)],
        [*range(15, 25)],
    ]
