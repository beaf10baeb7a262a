"""Figures whose numbers are counted by hand."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from celosia.sim.reporting.page.figures import bank_figure


def test_a_bank_s_time_is_in_percent_of_each_slot():
    activity = {"scratchpad 0": np.array([0, 25, 200]), "reads": np.array([1, 133, 66])}
    profile: Any = SimpleNamespace(activity=activity, slot_cycles=200)
    (heat,) = bank_figure(profile)["data"]
    assert [list(row) for row in heat["z"]] == [[0, 12.5, 100], [0.5, 66.5, 33]]
    assert (heat["zmin"], heat["zmax"]) == (0, 100)
    assert list(heat["y"]) == list(activity)
