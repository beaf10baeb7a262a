"""Checkpoints."""

from dataclasses import replace

import numpy as np
import pytest

from celosia.lab.training.checkpoint import (
    Checkpoint,
    CheckpointError,
    load_checkpoint,
    save_checkpoint,
)
from celosia.lab.training.recipe import Recipe
from tests.support.language import TINY

RECIPE = Recipe(shape=TINY, steps=100, decay=0.3)
TOKENS = np.arange(50, dtype=np.uint16)
ARRAYS = [np.arange(6.0).reshape(2, 3), np.array(3, np.int32)]


@pytest.fixture
def saved(tmp_path):
    """Saves a checkpoint of so many steps."""

    def save(steps: int):
        path = tmp_path / "checkpoint.npz"
        save_checkpoint(path, RECIPE, TOKENS, Checkpoint(steps, ARRAYS))
        return path

    return save


def test_it_comes_back(saved, tmp_path):
    found = load_checkpoint(saved(40), RECIPE, TOKENS)
    assert found.steps == 40
    for array, expected in zip(found.arrays, ARRAYS, strict=True):
        np.testing.assert_array_equal(array, expected)
        assert array.dtype == expected.dtype
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint.npz"]


def test_another_number_of_steps_is_the_same_until_rates_fall(saved):
    longer, shorter = replace(RECIPE, steps=200), replace(RECIPE, steps=50)
    assert load_checkpoint(saved(70), longer, TOKENS).steps == 70
    assert load_checkpoint(saved(35), shorter, TOKENS).steps == 35
    for steps, recipe in ((71, longer), (36, shorter)):
        with pytest.raises(CheckpointError, match="the learning rate has changed"):
            load_checkpoint(saved(steps), recipe, TOKENS)


def test_another_recipe_and_another_text_are_refused(saved):
    path = saved(40)
    for recipe, message in (
        (replace(RECIPE, seed=1), "was made with seed 0, not 1"),
        (replace(RECIPE, rate=1.0), "was made with rate"),
        (
            replace(RECIPE, shape=replace(TINY, layers=TINY.layers[:1])),
            "was made with layers 2, not 1",
        ),
    ):
        with pytest.raises(CheckpointError, match=message):
            load_checkpoint(path, recipe, TOKENS)
    with pytest.raises(CheckpointError, match="was made with text"):
        load_checkpoint(path, RECIPE, TOKENS + 1)


def test_a_damaged_one_is_refused(saved):
    path = saved(40)
    whole = path.read_bytes()
    np.savez(path, weights=np.zeros(3))
    for text in (b"", whole[:-30], whole[:100], b"x" * 200, path.read_bytes()):
        path.write_bytes(text)
        with pytest.raises(CheckpointError, match="not a checkpoint"):
            load_checkpoint(path, RECIPE, TOKENS)
