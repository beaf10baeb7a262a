"""Training, where JAX is installed: a small model that learns in seconds."""

from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pytest

from celosia.lab.training.perplexity import score
from celosia.lab.training.recipe import Recipe
from celosia.lab.training.scorers import float_scorer
from celosia.lab.training.text.corpus import corpus_key
from celosia.sw.decoding.drafts.ngram_file import NGRAMS, load_ngrams
from celosia.sw.models.decoder_graph import llama_float_graph
from celosia.sw.reference.language.errors import LanguageError
from celosia.sw.reference.language.model_file import load_language_model
from celosia.sw.reference.language.weights import LlamaWeights
from tests.support.language import UNLIKE, predictable_text, random_weights, small_shape

pytestmark = pytest.mark.skipif(
    not (find_spec("jax") and find_spec("optax")), reason="not installed (extra `training`)"
)

SHAPE = small_shape(vocabulary=64, layers=1, width=32, heads=2, key_heads=1, hidden=48, context=32)
RECIPE = Recipe(shape=SHAPE, steps=50, warmup=5)


@pytest.fixture(scope="module")
def text():
    return predictable_text(4000)


@pytest.fixture(scope="module")
def trained(text):
    """The tensors after 50 steps, and the losses of the steps."""
    train = import_module("celosia.lab.training.train").train
    losses = []
    tensors = train(RECIPE, text, tell=lambda _, loss: losses.append(loss))
    return tensors, losses


def test_the_loss_falls(trained, text):
    _, losses = trained
    assert len(losses) == 50
    assert abs(losses[0] - np.log(64)) < 0.5
    assert np.mean(losses[-5:]) < losses[0] - 1


def test_what_was_learned_is_what_the_float_reference_computes(trained, text):
    weights = LlamaWeights(SHAPE, trained[0])
    network = import_module("celosia.lab.training.network")
    tokens = text[:20].astype(np.int32)
    expected = network.logits(trained[0], SHAPE, tokens[None])[0]
    scorer = float_scorer(llama_float_graph(weights, SHAPE.context))
    found = scorer(tokens.tolist())
    np.testing.assert_allclose(found, expected, atol=1e-4)
    assert score(scorer, text[:500].tolist(), SHAPE.context).perplexity < 50


@pytest.mark.parametrize("shape", [SHAPE, UNLIKE], ids=["alike", "unlike"])
def test_the_networks_are_the_same_on_weights_that_attend(text, shape):
    weights = random_weights(shape)
    tokens = text[:32].astype(np.int32) % shape.vocabulary
    network = import_module("celosia.lab.training.network")
    expected = network.logits(weights.tensors, shape, tokens[None])[0]
    found = float_scorer(llama_float_graph(weights, shape.context))(tokens.tolist())
    np.testing.assert_allclose(found, expected, atol=1e-3)


def test_a_training_that_was_interrupted_goes_on_as_if_it_had_not_been(trained, text, tmp_path):
    train = import_module("celosia.lab.training.train").train
    path = tmp_path / "checkpoint.npz"

    def stop(steps: int, _loss: float) -> None:
        if steps == 30:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(RECIPE, text, checkpoint=path, every=20, tell=stop)
    steps = []
    tensors = train(
        RECIPE, text, checkpoint=path, every=20, tell=lambda done, _: steps.append(done)
    )
    assert steps == list(range(21, 51))
    for name, tensor in trained[0].items():
        np.testing.assert_array_equal(tensors[name], tensor)


def test_a_text_shorter_than_a_window_is_refused(text):
    train = import_module("celosia.lab.training.train").train
    with pytest.raises(LanguageError, match="tokens: 33 are not more than a window of 33"):
        train(RECIPE, text[:33])


def test_a_folder_with_a_model_is_made_from_texts(tmp_path):
    make = import_module("celosia.lab.training.make")
    texts = ["Return a copy of the list.", "Return a copy of the string."] * 9
    shape = small_shape(vocabulary=280, layers=1, width=16, heads=2, hidden=16, context=8)
    make.make_model(tmp_path, Recipe(shape=shape, steps=6, warmup=2, batch=2), "docstrings", texts)
    model = load_language_model(tmp_path)
    assert model.weights.shape == shape
    assert model.origin["text"] == corpus_key(texts)
    assert model.origin["corpus"] == "docstrings"
    assert model.origin["recipe"]["steps"] == 6
    token, _ = load_ngrams(tmp_path / NGRAMS, 280)(model.tokenizer.encode("a copy")) or (0, 0)
    assert token == model.tokenizer.encode(" of")[0]


def test_of_the_manual_the_tokenizer_is_that_of_the_small_model(tmp_path):
    make = import_module("celosia.lab.training.make")
    texts = ["Return a copy of the list."] * 9
    shape = small_shape(layers=1, width=16, heads=2, hidden=16, context=8)
    make.make_model(tmp_path, Recipe(shape=shape, steps=3, warmup=1, batch=2), "manual", texts)
    model = load_language_model(tmp_path)
    assert model.tokenizer.is_like(load_language_model().tokenizer)
    assert model.origin["corpus"] == "manual"
