"""Fronts of points, by hand."""

import pytest

from celosia.lab.sweep.front import (
    CYCLES,
    TIME,
    costs,
    headings,
    is_measured,
    numbers,
    pareto_front,
)


def line(cycles, read, write=0, **more):
    return {"cycles": cycles, "read_bytes": read, "write_bytes": write, **more}


def test_points_that_no_other_one_beats():
    fast, middle, small = line(10, 90), line(20, 30, 20), line(30, 40)
    equal = line(20, 50)
    slower, larger = line(21, 50), line(20, 51)
    assert pareto_front([small, slower, larger, middle, equal, fast]) == [fast, middle, small]
    assert pareto_front([equal, middle])[0] is equal
    assert pareto_front([]) == []


def test_wrong_and_refused_points_are_on_no_front():
    good, wrong, refused = line(10, 90), line(1, 1, wrong="3 elements"), {"refused": "no"}
    assert pareto_front([wrong, refused, good]) == [good]
    assert [is_measured(each) for each in (good, wrong, refused)] == [True, False, False]
    assert not is_measured(good, TIME)


def test_time_decides_where_periods_are_known():
    short, long = line(100, 10, us=3.0), line(90, 10, us=4.0)
    assert pareto_front([short, long], TIME) == [short]
    assert pareto_front([short, long], CYCLES) == [long]
    assert pareto_front([line(1, 1), short], TIME) == [short]
    assert costs(short, TIME) == (3.0, 10)


@pytest.mark.parametrize(
    ("axis", "above", "shown"),
    [
        (CYCLES, ("cycles", "bytes moved"), ("12,345", "67,900")),
        (TIME, ("us", "cycles", "bytes moved"), ("1,234.6", "12,345", "67,900")),
    ],
)
def test_numbers_of_a_table(axis, above, shown):
    assert headings(axis) == above
    assert numbers(line(12345, 67000, 900, us=1234.56), axis) == shown
