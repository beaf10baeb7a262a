"""How samples are described."""

import math

import numpy as np
import pytest

from celosia.lab.mappings.statistics import rank_correlation, spread_of, spread_picks


def test_a_spread_is_over_the_least():
    spread = spread_of(np.array([10.0, 20.0, 29.0, 30.0, 100.0]))
    assert (spread.least, spread.median, spread.most) == (10, 2.9, 10)
    assert spread.tenth == pytest.approx(1.4)
    assert spread.below_three == pytest.approx(60)


def test_picks_go_from_the_least_to_the_largest_that_is_allowed():
    values = np.array([5.0, 1.0, 9.0, 3.0, 7.0])
    assert spread_picks(values, 3, values < 8) == [1, 0, 4]
    assert spread_picks(values, 9, values < 100) == [1, 3, 0, 4, 2]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([1, 2, 3], [10, 20, 30], 1),
        ([1, 2, 3], [30, 20, 10], -1),
        ([1, 1, 2, 3], [1, 2, 3, 4], math.sqrt(0.9)),
    ],
)
def test_rank_correlation(first, second, expected):
    assert rank_correlation(first, second) == pytest.approx(expected)


def test_equal_values_have_no_order():
    assert math.isnan(rank_correlation([1, 1], [1, 2]))
