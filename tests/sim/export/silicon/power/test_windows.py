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


def test_a_window_is_short_and_registers_have_time_to_be_known():
    assert (CYCLES, WARM_UP) == (512, 96)


def test_windows_have_what_is_rare():
    events = happening(often=slice(0, None, 2), rare=slice(9_000, 9_010), never=slice(0, 0))
    chosen = choose_windows(events, FIRST, ["often", "rare", "never"])
    # Each quarter of what happens often is in one; the second is in that of what is rare.
    middles = [2_500, 9_001, 12_500, 17_500]
    assert chosen == [
        (FIRST + middle - CYCLES // 2 - WARM_UP, FIRST + middle + CYCLES // 2) for middle in middles
    ]


@pytest.mark.parametrize(
    ("cycle", "start"), [(0, 0), (RUN - 1, RUN - CYCLES - WARM_UP)], ids=["first", "last"]
)
def test_no_window_leaves_the_run(cycle, start):
    """At either end, what happens is not in the middle, and still is behind the warm-up."""
    events = happening(rare=slice(cycle, cycle + 1))
    assert choose_windows(events, FIRST, ["rare"]) == [
        (FIRST + start, FIRST + start + WARM_UP + CYCLES)
    ]


@pytest.mark.parametrize(
    ("cycles", "windows"),
    [
        (slice(9_242, 9_258), 1),  # Half of the last four cycles are in a window.
        (slice(9_243, 9_259), 2),
        (slice(8_608, 9_408), 1),  # Of the last 200, 48 are.
        (slice(8_609, 9_409), 2),
    ],
)
def test_what_is_seen_too_seldom_has_a_window_of_its_own(cycles, windows):
    """48 cycles of each quarter of an event, or half of those that it has, are enough."""
    first = happening(rare=slice(9_000, 9_004))
    (window,) = choose_windows(first, FIRST, ["rare"])
    assert window == (FIRST + 8_744 - WARM_UP, FIRST + 9_256)
    chosen = choose_windows(first | happening(seen=cycles), FIRST, ["rare", "seen"])
    # With "rare" first, which happens in fewer cycles.
    assert len(chosen) == windows
    assert all(stop - start == CYCLES + WARM_UP for start, stop in chosen)
