"""Rings: what a piece takes of one, and which of them have rows in common."""

import pytest

from celosia.sw.planning.forms.plan import RingPlan


@pytest.mark.parametrize(
    ("rows", "step", "taken"),
    [(1, 1, 1), (5, 1, 5), (1, 8, 8), (8, 8, 8), (9, 8, 16), (17, 8, 20), (20, 8, 20), (25, 8, 25)],
)
def test_a_piece_takes_whole_steps_but_no_more_than_a_span(rows, step, taken):
    ring = RingPlan(space="scratchpad", spans=((0, 40), (50, 20)), step=step)
    assert ring.least == 20
    assert ring.taken(rows) == taken


@pytest.mark.parametrize(
    ("spans", "meet"),
    [
        (((0, 10),), False),
        (((0, 11),), True),
        (((19, 5),), True),
        (((20, 5),), False),
        (((12, 2),), True),
        (((5, 40),), True),
        (((0, 10), (20, 10), (40, 1)), True),
        (((0, 10), (20, 10), (41, 1)), False),
    ],
)
def test_rings_meet_in_a_row_of_one_memory(spans, meet):
    ring = RingPlan(space="scratchpad", spans=((10, 10), (40, 1)))
    other = RingPlan(space="scratchpad", spans=spans)
    assert ring.meets(other) is other.meets(ring) is meet
    elsewhere = RingPlan(space="accumulator", spans=spans)
    assert not ring.meets(elsewhere)
