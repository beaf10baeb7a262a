"""Recovery of a pruned language model by training."""

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from celosia.lab.prune.recovery import checkpoint_of, recovered, recovery_recipe
from celosia.lab.training.perplexity import score
from celosia.lab.training.recipe import RECIPES
from celosia.lab.training.scorers import float_scorer
from celosia.sim.support.progress import silent
from celosia.sw.models.decoder_graph import llama_float_graph
from celosia.sw.reference.language.model_file import LanguageModel, shipped_folder
from celosia.sw.reference.language.tokenizer import TextTokenizer
from tests.support.language import TINY, random_weights

WEIGHTS = random_weights(TINY)
TEXT = [(each * 5 + each // 7) % TINY.vocabulary for each in range(900)]


def recipe(steps, **origin):
    tokenizer = TextTokenizer(shipped_folder() / "tokenizer.json")
    return recovery_recipe(LanguageModel(WEIGHTS, tokenizer, origin), WEIGHTS, steps)


@pytest.mark.parametrize(
    ("origin", "corpus"), [({}, "docstrings"), ({"corpus": "manual"}, "manual")]
)
def test_rates_are_a_tenth_of_those_of_the_corpus(origin, corpus):
    found = recipe(200, **origin)
    assert found.shape == TINY
    assert found.rate == pytest.approx(RECIPES[corpus].rate / 10)
    assert found.adam_rate == pytest.approx(RECIPES[corpus].adam_rate / 10)
    assert (found.steps, found.warmup, found.falls_from) == (200, 10, 10)


def test_a_lasso_has_half_of_the_rates():
    tokenizer = TextTokenizer(shipped_folder() / "tokenizer.json")
    found = recovery_recipe(LanguageModel(WEIGHTS, tokenizer, {}), WEIGHTS, 9, lasso=True)
    assert found.rate == pytest.approx(RECIPES["docstrings"].rate / 2)
    assert found.adam_rate == pytest.approx(RECIPES["docstrings"].adam_rate / 2)


def test_one_step_is_a_recovery():
    assert recipe(1).warmup == 0


def test_another_begin_has_another_checkpoint():
    tensors = {name: value.copy() for name, value in WEIGHTS.tensors.items()}
    tensors["0.down"][0, 0] += 1
    first = checkpoint_of(Path("there/less"), WEIGHTS)
    assert first.parent == Path("there")
    assert first != checkpoint_of(Path("there/less"), replace(WEIGHTS, tensors=tensors))
    assert first == checkpoint_of(Path("there/less"), WEIGHTS)


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("jax"), reason="not installed (extra `training`)")
def test_training_begins_with_what_is_left_and_gains():
    def perplexity(weights):
        graph = llama_float_graph(weights, TINY.context)
        return score(float_scorer(graph), TEXT[:200], TINY.context).perplexity

    still = recovered(replace(recipe(1), rate=0, adam_rate=0), WEIGHTS, TEXT, None, silent)
    for name, value in WEIGHTS.tensors.items():
        np.testing.assert_array_equal(still[name], value)
    found = recovered(recipe(40), WEIGHTS, TEXT, None, silent)
    assert perplexity(found) < 0.9 * perplexity(WEIGHTS)
