"""Windows of a run: each thing that happens rarely is in one, and all of them are in the run."""

import numpy as np
import pytest

from celosia.sim.export.silicon.power.windows import CYCLES, WARM_UP, choose_windows

RUN = 20_000
FIRST = 1_000
"""The cycle that the events begin with."""


def happening(**cycles):
    """Events that happen in some cycles of a run, each given as a slice."""
    events = {name: np.zeros(RUN) for name in cycles}
    for name, when in cycles.items():
        events[name][when] = 1.0
    return events


def test_windows_have_what_is_rare():
    events = happening(often=slice(0, None, 2), rare=slice(9_000, 9_010), never=slice(0, 0))
    chosen = choose_windows(events, FIRST, ["often", "rare", "never"])
    # What is in the window of the rare one often enough needs none of its own.
    assert chosen == [(FIRST + 9_005 - CYCLES // 2 - WARM_UP, FIRST + 9_005 + CYCLES // 2)]


@pytest.mark.parametrize(
    ("cycle", "start"), [(0, 0), (RUN - 1, RUN - CYCLES - WARM_UP)], ids=["first", "last"]
)
def test_no_window_leaves_the_run(cycle, start):
    """At either end, what happens is not in the middle, and still is behind the warm-up."""
    events = happening(rare=slice(cycle, cycle + 1))
    assert choose_windows(events, FIRST, ["rare"]) == [
        (FIRST + start, FIRST + start + WARM_UP + CYCLES)
    ]


def test_what_is_seen_too_seldom_has_a_window_of_its_own():
    """48 cycles of an event, or half of those that it has, are enough."""
    rare = slice(9_000, 9_010)
    events = happening(rare=rare, seen=slice(9_100, 9_148), half=slice(9_210, 9_309, 2))
    assert len(choose_windows(events, FIRST, ["rare", "seen", "half"])) == 1
    events["seen"][:] = events["half"][:] = 0
    events["seen"][9_100:9_147] = events["seen"][15_000:15_100] = 1
    first, second = choose_windows(events, FIRST, ["rare", "seen", "half"])
    assert first[1] < second[0]
    assert first[1] - first[0] == second[1] - second[0] == CYCLES + WARM_UP
