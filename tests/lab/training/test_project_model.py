"""The model that comes with the project."""

import pytest

from celosia.lab.training.compare import held_out_tokens
from celosia.lab.training.perplexity import score
from celosia.lab.training.scorers import float_scorer
from celosia.sw.models.decoder_graph import llama_float_graph
from celosia.sw.reference.language.model_file import load_language_model, shipped_folder
from celosia.sw.reference.language.shape import SMALL

FIRST_TOKENS = 2_560


@pytest.fixture(scope="module")
def model():
    return load_language_model()


def test_it_is_small_and_says_where_it_is_from(model):
    assert model.weights.shape == SMALL
    assert model.origin.keys() == {"text", "python", "recipe"}
    assert sum(path.stat().st_size for path in shipped_folder().iterdir()) < 6_000_000


def test_it_foretells_the_first_held_out_tokens_as_well_as_ever(model):
    tokens = held_out_tokens(model)[: FIRST_TOKENS + 1]
    found = score(
        float_scorer(llama_float_graph(model.weights, SMALL.context)),
        tokens,
        model.weights.shape.context,
    )
    assert found.perplexity == pytest.approx(59.135, rel=0.001)
