"""What is kept, and the repair."""

import numpy as np
import pytest

from celosia.lab.prune.parts.part import Gram, Part, kept_columns, repaired

RANDOM = np.random.default_rng(0)


def part(rows, reader, *, unit=1, made=None, changes=None):
    """Columns with these activations."""
    gram = Gram(rows.shape[1])
    for piece in np.array_split(rows, 3):
        gram.add(piece)
    made = np.ones(rows.shape[1], np.float32) if made is None else made
    return Part(unit=unit, made=made, reader=reader, gram=gram, changes=changes)


def drawn(rows, cols):
    return RANDOM.standard_normal((rows, cols)).astype(np.float32)


def test_each_criterion_looks_at_its_own():
    rows, reader = np.ones((6, 4), np.float32), np.ones((4, 3), np.float32)
    rows[:, 2], made = 5, np.array([1, 7, 1, 1], np.float32)
    changes = np.array([[1, 0, 0, 9], [1, 0, 0, -9]])
    each = part(rows, reader, made=made, changes=changes)
    assert kept_columns(each, "magnitude", 1).tolist() == [1]
    assert kept_columns(each, "activation", 1).tolist() == [2]
    assert kept_columns(each, "first-order", 1).tolist() == [3]
    assert kept_columns(each, "first-order", 2).tolist() == [0, 3]


def test_columns_of_a_unit_stay_together():
    reader = np.array([[9], [0], [2], [2], [8], [8]], np.float32)
    changes = np.array([[5, -5, 1, 1, 0, 0]])
    each = part(np.ones((4, 6), np.float32), reader, unit=2, changes=changes)
    assert kept_columns(each, "magnitude", 2).tolist() == [0, 1, 4, 5]
    assert kept_columns(each, "first-order", 1).tolist() == [2, 3]


@pytest.mark.parametrize("bias", [False, True])
def test_columns_that_follow_from_others_are_not_missed(bias):
    kept = drawn(50, 3)
    rows = np.concatenate([kept, kept @ drawn(3, 2) + (2 if bias else 0)], axis=1)
    rows, reader = rows.astype(np.float32), drawn(5, 4)
    found, added = repaired(part(rows, reader), np.arange(3), bias=bias)
    np.testing.assert_allclose(kept @ found + added, rows @ reader, atol=0.02)
    assert bias or not added.any()


def test_no_other_rows_are_nearer():
    rows, reader = drawn(80, 6), drawn(6, 2)
    kept = np.array([0, 2, 5])
    found, _ = repaired(part(rows, reader), kept, bias=False)
    best, *_ = np.linalg.lstsq(rows[:, kept], rows @ reader, rcond=None)
    np.testing.assert_allclose(found, best, atol=1e-3)


def test_columns_that_are_never_active_keep_their_rows():
    rows, reader = np.zeros((5, 3), np.float32), drawn(3, 2)
    found, _ = repaired(part(rows, reader), np.array([1, 2]), bias=False)
    np.testing.assert_allclose(found, reader[1:], atol=1e-6)
