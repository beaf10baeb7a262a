"""Recipes."""

import pytest

from celosia.lab.training.recipe import Recipe
from celosia.sw.reference.language.errors import LanguageError


def test_rates_fall_at_the_end():
    assert Recipe(steps=100, decay=0.2, warmup=10).falls_from == 80
    assert Recipe(steps=100, decay=1, warmup=10).falls_from == 10


def test_a_training_is_longer_than_its_warm_up():
    with pytest.raises(LanguageError, match="steps: 20 are not more than the 20"):
        Recipe(steps=20, warmup=20)
