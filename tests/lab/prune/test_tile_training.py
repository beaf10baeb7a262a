"""What training does to tiles of weights."""

from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not find_spec("jax"), reason="not installed (extra `training`)"),
]

SIZES = {"a": (8, 12), "b": (6, 10), "c": (8, 8)}


def weights():
    """Matrices whose tiles of 4x4 have norms of their own."""
    random = np.random.default_rng(1)
    found = {name: random.normal(size=size).astype(np.float32) for name, size in SIZES.items()}
    for value in found.values():
        for row in range(0, value.shape[0], 4):
            for col in range(0, value.shape[1], 4):
                value[row : row + 4, col : col + 4] *= 1 + row + col / 3
    return found


def module():
    return import_module("celosia.lab.prune.tile_training")


def after(transform, values, updates, steps):
    """The weights after so many steps of the same updates."""
    state = transform.init(values)
    for _ in range(steps):
        found, state = transform.update(updates, state, values)
        values = {name: np.asarray(values[name] + found[name]) for name in values}
    return values


def test_zeros_of_matrices_stay_zero_and_nothing_else_is_held():
    values = weights() | {"gamma": np.zeros(3, np.float32)}
    values["a"][:4, 4:8] = 0
    ones = {name: np.ones_like(value) for name, value in values.items()}
    found = after(module().zeros_stay(values), values, ones, 2)
    assert not found["a"][:4, 4:8].any()
    np.testing.assert_allclose(found["a"][4:], values["a"][4:] + 2, rtol=1e-6)
    np.testing.assert_allclose(found["gamma"], 2)


@pytest.mark.parametrize(("steps", "share"), [(1, 0.5), (5, 0.5), (5, 0.34)])
def test_a_lasso_brings_the_least_tiles_to_zero_and_keeps_the_largest(steps, share):
    values = weights()
    none = {name: np.zeros_like(value) for name, value in values.items()}
    found = after(module().lasso(["a", "b"], 4, share, steps), values, none, steps)
    np.testing.assert_allclose(found["c"], values["c"], rtol=1e-6)
    for name in ("a", "b"):
        rows, cols = SIZES[name]
        corners = [(row, col) for row in range(0, rows, 4) for col in range(0, cols, 4)]

        def norm(of, corner):
            row, col = corner
            return np.linalg.norm(of[row : row + 4, col : col + 4])

        ordered = sorted(corners, key=lambda corner: norm(values[name], corner))
        gone = int(share * (len(ordered) - 1)) + 1
        for corner in ordered[:gone]:
            assert norm(found[name], corner) < 1e-3 * norm(values[name], ordered[-1])
        left = [norm(found[name], each) / norm(values[name], each) for each in ordered]
        assert left == sorted(left)
        assert left[-1] > 0.9


def test_a_tile_that_training_needs_comes_back():
    values = weights()
    pull = {name: np.zeros_like(value) for name, value in values.items()}
    pull["a"][:4, :4] = 50.0
    found = after(module().lasso(["a"], 4, 0.34, 3), values, pull, 3)
    assert np.linalg.norm(found["a"][:4, :4]) > 100
