"""Where values are clipped, by each criterion."""

import numpy as np
import pytest

from celosia.sw.quantize.ranges import CLIPS, int8_step, top_of

NORMAL = np.random.default_rng(0).standard_normal((500, 100)).astype(np.float32)
OUTLIER = NORMAL.copy()
OUTLIER[0, 0] = 12


def limit(x, clip):
    return int8_step(x, clip) * 127


def test_nothing_is_clipped_at_the_largest_value():
    assert limit(OUTLIER, "minmax") == 12
    assert limit(NORMAL, "minmax") == np.abs(NORMAL).max()


def test_a_percentile_is_exceeded_by_one_element_in_ten_thousand():
    assert (np.abs(NORMAL) > limit(NORMAL, "percentile")).sum() in {4, 5}


@pytest.mark.parametrize("clip", ["percentile", "entropy", "error"])
def test_an_outlier_does_not_decide(clip):
    assert limit(OUTLIER, clip) < 11
    assert limit(NORMAL, clip) > 2.5


def test_levels_that_fit_the_histogram_lose_nothing():
    """One value in each of the levels: every shorter range has another distribution."""
    x = (np.arange(1, 129, dtype=np.float32) * 8).reshape(-1, 1)
    assert limit(np.tile(x, (40, 1)), "entropy") == pytest.approx(1024)


@pytest.mark.parametrize("clip", CLIPS)
def test_zeros_have_a_step(clip):
    assert int8_step(np.zeros((3, 2), np.float32), clip) > 0


def test_what_is_almost_always_0_has_a_range():
    x = np.zeros((1000, 100), np.float32)
    x[0, 0] = 3
    assert top_of(x, "percentile") == 3
