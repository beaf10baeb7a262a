"""Distances of outputs from float, and the rows that they count."""

import numpy as np
import pytest

from celosia.sim.run.models.distances import distances
from celosia.sw.frontend.visible_rows import Rows


def test_distances_in_decibels_and_the_largest_of_logits():
    real = np.array([[3.0, 4.0], [0.0, 5.0]], np.float32)
    found = real + np.array([[0.5, 0.0], [0.0, 0.0]], np.float32)
    best = real + np.array([[0.25, 0.0], [0.0, 0.0]], np.float32)
    integers = {"n": np.ones(2, np.int64)}
    (far,) = distances({"logits": real, **integers}, {"logits": found}, {"logits": best})
    assert far.sqnr_db == pytest.approx(10 * np.log10(50 / 0.25))
    assert far.exact_sqnr_db == pytest.approx(10 * np.log10(50 / 0.0625))
    assert far.cosine == pytest.approx(0.99807, abs=1e-5)
    assert far.top1 == 1.0
    (same,) = distances({"y": real}, {"y": real}, {"y": real})
    assert (same.sqnr_db, same.cosine, same.top1) == (np.inf, pytest.approx(1), None)


def test_the_distance_of_nothing_and_of_scalars():
    nothing, one = np.zeros(3, np.float32), np.array([3, 4, 0], np.float32)
    (zero,) = distances({"y": nothing}, {"y": nothing}, {"y": nothing})
    assert (zero.cosine, zero.top1) == (1.0, None)
    (lost,) = distances({"y": one * np.float32(1e-24)}, {"y": nothing}, {"y": nothing})
    assert (lost.sqnr_db, lost.cosine) == (0, 0), "a small output of which nothing is left"
    (far,) = distances({"y": one}, {"y": 2 * one}, {"y": one})
    assert far.cosine == pytest.approx(1)
    (across,) = distances({"y": one}, {"y": np.array([0, 0, 9])}, {"y": one})
    assert across.cosine == 0
    (scalar,) = distances({"logits": one[:1].sum()}, {"logits": one[0]}, {"logits": one[0]})
    assert scalar.top1 is None
    rows = np.array([[1, 2], [2, 1]], np.float32)
    found = np.array([[0, 5], [0, 5]], np.float32)
    (shares,) = distances({"logits": rows}, {"logits": found}, {"logits": rows})
    assert shares.top1 == 0.5


def test_rows_of_hidden_tokens_are_left_out():
    real = np.arange(1.0, 13.0).reshape(2, 3, 2)
    found, best = real.copy(), real.copy()
    found[0, 2] += 100
    found[1, 0, 0] += 1
    best[0, 2] += 50
    best[1, 0, 0] += 0.5
    shown = np.array([[True, True, False], [True, True, True]])
    (far,) = distances({"y": real}, {"y": found}, {"y": best}, {"y": Rows(shown, texts=True)})
    rows = np.array([1, 2, 3, 4, 7, 8, 9, 10, 11, 12.0])
    assert far.sqnr_db == pytest.approx(10 * np.log10(rows @ rows / 1))
    assert far.exact_sqnr_db == pytest.approx(10 * np.log10(rows @ rows / 0.25))
    assert far.all_sqnr_db == pytest.approx(10 * np.log10(650 / 20001))
    assert far.all_cosine < 0.7
    assert far.cosine > 0.99
    assert (far.counted.rows, far.counted.of, far.counted.elements) == (5, 6, False)
    assert far.counted.spans == ((0, 1), (3, 5))
    assert str(far.counted) == "5 of 6 rows"
    # The first text is the same; the mean of the second one is (28 / 3, 10) instead of (9, 10).
    one = (9 * 28 / 3 + 100) / np.sqrt(181 * ((28 / 3) ** 2 + 100))
    assert far.pooled_cosine == pytest.approx((1 + one) / 2, abs=1e-9)


def test_vectors_of_texts_are_compared_one_by_one():
    real, found = np.array([[1.0, 0], [100, 0]]), np.array([[0, 1.0], [100, 0]])
    rows = {"y": Rows(np.ones(2, bool), texts=True)}
    (far,) = distances({"y": real}, {"y": found}, {"y": real}, rows)
    assert far.pooled_cosine == pytest.approx(0.5), "each text counts as much, however long"
    assert far.cosine > 0.99
    (alone,) = distances({"y": real}, {"y": found}, {"y": real})
    assert alone.pooled_cosine is None
    (logits,) = distances(
        {"logits": real}, {"logits": found}, {"logits": real}, {"logits": rows["y"]}
    )
    assert (logits.pooled_cosine, logits.top1) == (None, 0.5)


def test_elements_of_one_row_may_belong_to_several_tokens():
    real, found = np.array([[3.0, 4, 9]]), np.array([[3.0, 4, -9]])
    rows = {"logits": Rows(np.array([[True, True, False]]))}
    (far,) = distances({"logits": real}, {"logits": found}, {"logits": real}, rows)
    assert far.sqnr_db == np.inf
    assert far.top1 is None
    assert str(far.counted) == "2 of 3 elements"


def test_where_nothing_is_visible_all_counts():
    real = np.ones((2, 3))
    rows = {"y": Rows(np.zeros(2, bool))}
    (far,) = distances({"y": real}, {"y": 2 * real}, {"y": real}, rows)
    assert far.sqnr_db == 0
    assert (far.counted.rows, far.counted.spans) == (2, ((0, 1),))
