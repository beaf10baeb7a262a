"""Rings of a stage of its own: how many pieces they hold, and what they are called."""

import pytest

from celosia.sw.planning.forms.plan import RingPlan
from celosia.sw.planning.rules.verify import PlanError
from celosia.sw.planning.schedules.rings import buffered


def ring(*spans: tuple[int, int]) -> RingPlan:
    return RingPlan(space="scratchpad", spans=spans, step=4)


@pytest.mark.parametrize("spans", [((8, 12),), ((8, 4), (12, 8)), ((12, 8), (8, 4))])
@pytest.mark.parametrize(("pieces", "rows"), [(1, 12), (2, 6), (3, 4), (5, 2), (12, 1)])
def test_pieces_share_the_rows_evenly(spans, pieces, rows):
    found = buffered(ring(*spans), pieces, "x")
    assert found.space == "scratchpad"
    assert found.step == rows
    assert found.spans == tuple((8 + turn * rows, rows) for turn in range(pieces))


def test_without_a_number_pieces_follow_each_other_row_by_row():
    found = buffered(ring((8, 4), (12, 8)), 0, "x")
    assert (found.spans, found.step) == (((8, 12),), 1)


@pytest.mark.parametrize("pieces", [-1, 13])
def test_more_pieces_than_rows_are_refused(pieces):
    with pytest.raises(PlanError, match=f"{pieces} pieces in 12 rows"):
        buffered(ring((8, 12)), pieces, "x")


@pytest.mark.parametrize("spans", [((0, 4), (5, 4)), ((0, 4), (3, 4)), ((9, 2), (0, 4))])
def test_spans_that_are_not_side_by_side_are_refused(spans):
    with pytest.raises(PlanError, match="are not side by side"):
        buffered(ring(*spans), 1, "x")
