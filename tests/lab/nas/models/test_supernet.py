"""A supernet, where JAX is installed: parts of it, scores, and what it learns."""

from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pytest

from celosia.lab.nas.models.space import Space
from celosia.lab.nas.models.supernet_file import Supernet, SupernetRecipe
from celosia.lab.nas.models.texts import Texts
from celosia.lab.sweep.lines import open_lines
from celosia.lab.training.perplexity import score
from celosia.lab.training.recipe import Recipe
from celosia.lab.training.scorers import float_scorer
from celosia.sw.models.decoder_graph import llama_float_graph
from celosia.sw.reference.language.shape import LlamaShape
from celosia.sw.reference.language.weights import LlamaWeights
from tests.support.language import predictable_text, random_weights

pytestmark = pytest.mark.skipif(
    not (find_spec("jax") and find_spec("optax")), reason="not installed (extra `training`)"
)


class Short(Space):
    """Models of a small vocabulary and short texts."""

    def model(self, width, layers):
        return LlamaShape(vocabulary=64, context=32, width=width, layers=layers)


SHORT = Short(depths=(1, 2), widths=(16, 32), heads=(2, 4), hidden=(16, 32), head_width=8)
RECIPE = SupernetRecipe(shape=SHORT.largest, steps=40, warmup=5, space=str(SHORT), dropout=0.0)


@pytest.fixture(scope="module")
def text():
    return predictable_text(3000)


@pytest.fixture(scope="module")
def trained(text):
    train = import_module("celosia.lab.training.train").train
    task = import_module("celosia.lab.nas.models.supernet").Sandwich(RECIPE, SHORT)
    losses = []
    tensors = train(RECIPE, text, task=task, tell=lambda _, loss: losses.append(loss))
    return tensors, losses


def test_a_part_says_what_a_model_of_its_tensors_says(text):
    """By the float interpreter, which knows nothing of masks; windows begin anew."""
    supernet = import_module("celosia.lab.nas.models.supernet")
    largest = SHORT.largest
    weights = random_weights(largest).tensors
    for seed in range(4):
        model = SHORT.drawn(np.random.default_rng(seed))
        part = {n: np.asarray(x) for n, x in supernet.part_of(weights, model).items()}
        scorer = float_scorer(llama_float_graph(LlamaWeights(model, part), model.context))
        expected = score(scorer, text[:100].tolist(), model.context)
        found = supernet.likelihoods(weights, largest, model, text[:100])
        assert found.shape == (99,)
        assert found.sum(dtype=float) == pytest.approx(expected.total, rel=1e-4)


def test_all_sizes_learn(trained, text):
    supernet = import_module("celosia.lab.nas.models.supernet")
    tensors, losses = trained
    assert losses[-1] < losses[0] - 1
    between = SHORT.drawn(np.random.default_rng(5))
    for model in (SHORT.smallest, between, SHORT.largest):
        found = supernet.likelihoods(tensors, SHORT.largest, model, text[:500])
        assert -found.mean() < np.log(64) - 0.8


def test_a_steps_models_follow_from_its_number():
    sandwich = import_module("celosia.lab.nas.models.supernet").Sandwich(RECIPE, SHORT)
    one, again, other = sandwich.given(3), sandwich.given(3), sandwich.given(4)

    def same(first, second):
        pairs = zip(first["hidden"], second["hidden"], strict=True)
        return all(np.array_equal(*pair) for pair in pairs)

    assert same(one, again)
    assert not same(one, other)
    assert [each.shape for each in one["queries"]] == [(2, 32), (2, 32)]


def test_scores_are_kept(trained, text, tmp_path):
    scores = import_module("celosia.lab.nas.models.scores").Scores
    texts = Texts(text, text, text, np.zeros(len(text) - 1, np.int32))
    with open_lines(tmp_path, "nas.jsonl", "search") as lines:
        found = scores(Supernet(trained[0], {"a": 1}), SHORT, texts, 300, lines)(SHORT.smallest)
        (line,) = lines.known.values()
        assert line["perplexity"] == found
        line["perplexity"] = 5.0
        assert scores(Supernet(trained[0], {"a": 1}), SHORT, texts, 300, lines)(SHORT.smallest) == 5
        other = scores(Supernet(trained[0], {"a": 2}), SHORT, texts, 300, lines)(SHORT.smallest)
        assert other == found


def test_a_model_from_scratch_is_scored_by_document(text):
    learn = import_module("celosia.lab.nas.models.scratch").learn
    numbers = np.repeat(np.arange(3), [100, 50, 49]).astype(np.int32)
    texts = Texts(text, text[:300], text[:200], numbers)
    thin, *_, thick = SHORT.layers
    found = learn(
        Recipe(shape=SHORT.model(16, (thick, thin)), steps=12, warmup=2, dropout=0.0), texts
    )
    assert found.sums.shape == (3,)
    assert found.validation < 64
    # Each token has about the same perplexity.
    assert np.exp(-found.sums.sum() / 199) == pytest.approx(found.validation, rel=0.1)
