"""The promise of a graph, by numbers that were worked out by hand."""

from math import inf

import pytest

from celosia.lab.tune.divide import promise

SINCE = [900] * 9


@pytest.mark.parametrize(
    ("cycles", "asked", "promised"),
    [
        # Nobody promises more than who was not tried.
        ([], 0, inf),
        ([1000], 0, inf),
        # 100 cycles in one trial, and a hundredth of what is left.
        ([1000, 900], 1, 100 + 9),
        # The same in two, of which one has no result yet, is illegal, or gains nothing.
        ([1000, 900], 2, 50 + 4.5),
        ([1000, None, 900], 2, 50 + 4.5),
        ([1000, 900, 950], 2, 50 + 4.5),
        # What was gained ten trials ago counts, but nothing before.
        ([1000, 900, *SINCE], 10, 10 + 0.9),
        ([1000, 900, *SINCE, 900], 11, 9 / 11),
        # Nothing is known of who has no legal plan.
        ([None, None], 1, 0),
        ([], 1, 0),
        # The first legal plan is no gain.
        ([None, 500], 1, 0),
    ],
)
def test_a_graph_promises_what_it_gained_and_a_hundredth_of_its_cycles(cycles, asked, promised):
    assert promise(cycles, asked) == pytest.approx(promised)
