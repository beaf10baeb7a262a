"""The models that come with the project."""

import pytest

from celosia.lab.training.compare import held_out_tokens
from celosia.lab.training.perplexity import score
from celosia.lab.training.recipe import RECIPES
from celosia.lab.training.scorers import float_scorer
from celosia.sw.models.decoder_graph import llama_float_graph
from celosia.sw.reference.language.model_file import (
    SHIPPED,
    WEIGHTS,
    load_language_model,
    shipped_folder,
)
from celosia.sw.reference.language.shape import DOCS, SMALL
from tests.support.command_line import right
from tests.test_references import ROOT

SAMPLES = (
    ("Return the", 1),
    (".. function:: dump(obj, fp)", 0),
    ("Raised when", 0),
)


@pytest.fixture(scope="module", params=SHIPPED)
def model(request):
    return request.param, load_language_model(shipped_folder(request.param))


def test_it_says_where_it_is_from(model):
    name, found = model
    shape, keys = {
        "small": (SMALL, {"text", "python", "recipe"}),
        "docs": (DOCS, {"text", "corpus", "python", "recipe"}),
    }[name]
    assert found.weights.shape == shape
    assert found.origin.keys() == keys


def test_docs_is_made_by_its_recipe():
    origin = load_language_model(shipped_folder("docs")).origin
    recipe = RECIPES["manual"]
    assert recipe.shape == DOCS
    assert origin["corpus"] == "manual"
    assert all(getattr(recipe, name) == value for name, value in origin["recipe"].items())


def test_they_are_small():
    files = [path for path in shipped_folder().rglob("*") if path.is_file()]
    assert (shipped_folder("docs") / WEIGHTS).stat().st_size < 6_000_000
    assert sum(path.stat().st_size for path in files) < 10_000_000


def test_both_have_the_same_tokens():
    small, docs = (load_language_model(shipped_folder(name)).tokenizer for name in SHIPPED)
    assert docs.is_like(small)


def test_it_foretells_the_first_held_out_tokens_as_well_as_ever(model):
    name, found = model
    count, perplexity = {"small": (2_560, 59.135), "docs": (512, 22.060)}[name]
    tokens, context = held_out_tokens(found)[: count + 1], found.weights.shape.context
    scored = score(float_scorer(llama_float_graph(found.weights, context)), tokens, context)
    assert scored.perplexity == pytest.approx(perplexity, rel=0.001)


@pytest.mark.parametrize(("prompt", "seed"), SAMPLES)
def test_the_page_has_the_texts_that_docs_writes(prompt, seed):
    words = ("generate", "--model", "docs", "--sim", "float", "--prompt", prompt)
    page = (ROOT / "docs/language-model.md").read_text("utf-8")
    text = right(*words, "--tokens", "64", "--seed", str(seed)).stdout
    command = f'$ celosia generate --model docs --sim float --prompt "{prompt}" --seed {seed}\n'
    assert f"{command}{text}" in page
