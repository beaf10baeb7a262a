"""Where values are clipped, by each criterion."""

import numpy as np
import pytest

from celosia.sw.quantize.ranges import (
    CLIPS,
    best_step,
    column_ranges,
    int8_step,
    int16_step,
    top_of,
)

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


@pytest.mark.parametrize("clip", CLIPS)
def test_steps_of_what_is_nearly_nothing_have_a_product_in_float32(clip):
    """The product is the scale of scores, where queries and keys are that small."""
    for size in (1e-38, 1e-24, 1e-16, 1e-15, 1e-12):
        x = np.array([[size], [-size]], np.float32)
        assert np.float32(int8_step(x, clip)) * np.float32(int8_step(x, clip)) > 0, size


def test_what_is_almost_always_0_has_a_range():
    x = np.zeros((1000, 100), np.float32)
    x[0, 0] = 3
    assert top_of(x, "percentile") == 3


def test_a_column_reaches_four_deviations_beyond_its_mean_or_its_largest_value():
    x = np.zeros((100, 2), np.float32)
    x[:, 0] = [1, 3] * 50  # The mean is 2, the deviation 1.
    x[7, 1] = -90
    np.testing.assert_allclose(column_ranges(x), [6, 90])
    np.testing.assert_array_equal(column_ranges(x[:0]), [0, 0])


def test_int16_holds_half_as_much_again_as_was_seen():
    assert int16_step(np.array([[0.5, -2]], np.float32)) == 3 / 32767
    assert int16_step(np.zeros((1, 2), np.float32)) == 1 / 32767


@pytest.mark.parametrize(("most", "clip"), [(0.2, 0.25), (0.89, 0.25 ** (1 / 12))])
def test_clipping_is_tried_at_thirteen_places_down_to_a_quarter(most, clip):
    """A range is that of all values but one, which is far beyond very many others."""
    x = np.linspace(-most, most, 1_000_000, dtype=np.float32)
    x[0] = 1
    assert best_step(x) == pytest.approx(clip / 127)
