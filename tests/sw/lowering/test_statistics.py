"""Whose statistics stand in each slot: who takes those of others is found."""

import pytest

from celosia.isa.encoding import Function
from celosia.sw.ir.graph import View
from celosia.sw.ir.program import LocalRows, Space, Transform
from celosia.sw.lowering.statistics import Statistics

FIRST, SECOND = (View("scores", row, 0, 4, 8) for row in (0, 4))


def transform(function: Function, slot: int, **settings: int) -> Transform:
    source = LocalRows(Space.ACCUMULATOR, 0, 4, 2, 4)
    return Transform(function, source, 8, settings={"statistics": slot, **settings})


@pytest.fixture
def statistics() -> Statistics:
    """The first rows have begun theirs in slots 0 to 3, and the second ones in slots 4 to 7."""
    statistics = Statistics()
    for slot, rows in ((0, FIRST), (4, SECOND)):
        statistics.follow(transform(Function.MAXIMUM, slot, start=1), rows)
    return statistics


def test_rows_go_on_with_their_own(statistics):
    statistics.follow(transform(Function.EXPONENT, 0, start=1, finish=1), FIRST)
    statistics.follow(transform(Function.CONTEXT, 0), FIRST)
    statistics.follow(transform(Function.CONTEXT, 0), FIRST.part(cols=3))
    statistics.follow(transform(Function.CONTEXT, 6), SECOND.part(row=2, rows=2))
    statistics.follow(transform(Function.CONTEXT, 2), View("scores", 2, 0, 4, 8))


@pytest.mark.parametrize(
    ("slot", "rows", "message"),
    [
        (0, SECOND, r"statistics 0 are of \('scores', 0\), not of \('scores', 4\)"),
        (2, FIRST, r"statistics 2 are of \('scores', 2\), not of \('scores', 0\)"),
        (0, View("other", 0, 0, 4, 8), r"not of \('other', 0\)"),
        (4, View("scores", 4, 0, 5, 8), r"statistics 8 are of None, not of \('scores', 8\)"),
    ],
)
def test_others_are_found(statistics, slot, rows, message):
    with pytest.raises(AssertionError, match=message):
        statistics.follow(transform(Function.CONTEXT, slot), rows)


def test_a_row_whose_slot_was_taken(statistics):
    statistics.follow(transform(Function.MOMENTS, 3, start=1), View("stream", 9, 0, 1, 8))
    statistics.follow(transform(Function.CONTEXT, 0), FIRST.part(rows=3))
    with pytest.raises(AssertionError, match=r"statistics 3 are of \('stream', 9\)"):
        statistics.follow(transform(Function.CONTEXT, 0), FIRST)


def test_sums_that_start_go_on_with_the_maxima():
    with pytest.raises(AssertionError, match="statistics 0 are of None"):
        Statistics().follow(transform(Function.EXPONENT, 0, start=1), FIRST)


def test_what_has_no_statistics_needs_no_rows(statistics):
    source = LocalRows(Space.ACCUMULATOR, 0, 4, 2, 4)
    statistics.follow(Transform(Function.GELU, source, 8), None)
    with pytest.raises(AssertionError, match="uses statistics of no rows"):
        statistics.follow(transform(Function.CONTEXT, 0), None)
