"""Tiles that become zero, and what the others become."""

import numpy as np
import pytest

from celosia.lab.prune.parts.part import Criterion, Gram
from celosia.lab.prune.parts.share import parse_share
from celosia.lab.prune.pruned import Wanted
from celosia.sim.support.problems import InputError
from celosia.sw.reference.encoder import Linear

DIM = 4


def wanted(share="50%", criterion: Criterion = "magnitude", repair=False):
    tiles = parse_share("--tiles", share, numbers=False)
    return Wanted(criterion=criterion, tiles=tiles, dim=DIM, repair=repair)


def gram(rows):
    found = Gram(rows.shape[1])
    found.add(rows)
    return found


def test_the_smallest_tiles_are_zero_and_others_as_they_were():
    weights = np.ones((8, 6), np.float32)
    weights[:4, :4], weights[4:, 4:] = 0.1, 0.2
    found = wanted().without_tiles(
        Linear(weights, np.ones(6, np.float32)), gram(np.ones((3, 8))), bias=True
    )
    expected = weights.copy()
    expected[:4, :4] = expected[4:, 4:] = 0
    np.testing.assert_array_equal(found.weights, expected)
    np.testing.assert_array_equal(found.bias, 1)


def test_activations_count_if_they_are_asked_for():
    """The large weights read what is nearly zero."""
    weights = np.ones((8, 4), np.float32)
    weights[:4] = 3
    rows = np.ones((5, 8))
    rows[:, :4] = 0.01
    linear = Linear(weights, np.zeros(4, np.float32))
    expected: dict[Criterion, slice] = {"magnitude": slice(4, 8), "activation": slice(0, 4)}
    for criterion, gone in expected.items():
        found = wanted(criterion=criterion).without_tiles(linear, gram(rows), bias=False)
        assert not found.weights[gone].any()
        assert np.count_nonzero(found.weights) == 16


def test_what_is_left_makes_good_for_twins():
    """Inputs that are alike, and a constant: of two tiles, one and the bias do the work of both."""
    random = np.random.default_rng(3)
    rows = random.normal(size=(200, DIM)).astype(np.float32)
    rows = np.hstack([rows, rows + np.float32(2)])
    weights = random.normal(size=(8, DIM)).astype(np.float32)
    weights[:4] *= 0.5
    linear = Linear(weights, random.normal(size=DIM).astype(np.float32))
    far = wanted().without_tiles(linear, gram(rows), bias=True)
    near = wanted(repair=True).without_tiles(linear, gram(rows), bias=True)
    assert not near.weights[:4].any()
    np.testing.assert_allclose(near(rows), linear(rows), atol=0.01)
    assert np.abs(far(rows) - linear(rows)).max() > 0.1


def test_a_share_that_removes_or_leaves_none_is_refused():
    linear = Linear(np.ones((8, 4), np.float32), np.zeros(4, np.float32))
    for share, why in (("10%", "removed"), ("90%", "left")):
        with pytest.raises(InputError, match=f"of 2 tiles, nothing would be {why}"):
            wanted(share).without_tiles(linear, gram(np.ones((2, 8))), bias=False)
