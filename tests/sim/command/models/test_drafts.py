"""Which guesses a text has, by options and files."""

from dataclasses import replace
from pathlib import Path

import pytest

from celosia.lab.training.tokens import train_tokenizer
from celosia.sim.command.models.drafts import Drafts, choose_drafts, little_model
from celosia.sim.command.models.prompts import Prompt
from celosia.sim.command.models.text_model import project_model
from celosia.sim.support.problems import InputError
from celosia.sw.decoding.drafts.draft import draft_of
from celosia.sw.decoding.drafts.little_model import LittleModel
from celosia.sw.decoding.drafts.ngram_file import NGRAMS
from celosia.sw.models.decoder_graph import llama_float_graph
from celosia.sw.reference.language.model_file import (
    TOKENIZER,
    WEIGHTS,
    load_language_model,
    save_weights,
    shipped_folder,
)
from celosia.sw.reference.language.tokenizer import TextTokenizer
from tests.support.decoder_exports import exported, save
from tests.support.language import random_weights, small_shape


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    """Files are in a folder of their own."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def model():
    """The project's model, and a prompt."""
    return project_model(None, [Prompt("Return", "--prompt")], 8)


def test_the_projects_model_has_n_grams_beside_it(model):
    found = choose_drafts(model, 3, None, None)
    assert (found.most, found.names, found.note) == (3, ("lookup", "n-grams"), "")
    assert found.draft
    text = model.tokenizer.encode("Raises an Attribute")
    assert "".join(model.tokenizer.pieces(iter(found.draft(text, 1)))) == "Error"
    assert model.ngrams == shipped_folder() / NGRAMS


def test_a_text_takes_their_place(model):
    Path("text.txt").write_text("Raises an Attribute of Raises an Attribute of")
    found = choose_drafts(model, 3, Path("text.txt"), None)
    assert found.names == ("lookup", "n-grams of text.txt")
    assert found.draft
    text = model.tokenizer.encode("Raises an Attribute")
    assert "".join(model.tokenizer.pieces(iter(found.draft(text, 1)))) == " of"


def test_a_text_with_tokens_that_the_model_has_not_is_refused(model, monkeypatch):
    """A file of the user's may have another tokenizer than the model."""
    Path("text.txt").write_text("a b c")
    monkeypatch.setattr(model.tokenizer, "encode", lambda _: [7, 2047, 2048])
    with pytest.raises(InputError, match=r"--draft-text text\.txt: token 2 is 2048"):
        choose_drafts(model, 3, Path("text.txt"), None)


def saved(vocabulary, tokenizer):
    """A folder with a little model of random weights."""
    folder = Path(f"little-{vocabulary}")
    folder.mkdir()
    shape = small_shape(vocabulary=vocabulary, layers=1, context=6)
    save_weights(folder / WEIGHTS, shape, random_weights(shape).tensors, {})
    (folder / TOKENIZER).write_bytes(tokenizer)
    return folder


def test_a_little_model_takes_the_place_of_n_grams(model):
    folder = saved(2048, (shipped_folder() / TOKENIZER).read_bytes())
    found = choose_drafts(model, 3, None, folder)
    assert found.names == ("lookup", "little model little-2048")
    weights = load_language_model(folder).weights
    little = LittleModel(llama_float_graph(weights, 6), 6)
    assert found.draft
    assert found.draft([5, 6], 3) == draft_of(3, little)([5, 6], 3)
    assert found.draft(range(9), 3) == []


def test_little_models_of_other_tokens_are_refused(model):
    with pytest.raises(InputError, match="--draft-model x: foretells in place of --draft-text y"):
        choose_drafts(model, 3, Path("y"), Path("x"))
    with pytest.raises(InputError, match="--draft-model x: is for --speculate K"):
        choose_drafts(model, None, None, Path("x"))
    with pytest.raises(InputError, match="x: No such file"):
        choose_drafts(model, 3, None, Path("x"))
    train_tokenizer(["a text of few words"] * 9, 270, Path("other.json"))
    size = TextTokenizer(Path("other.json")).size
    with pytest.raises(InputError, match=f"little-{size}: its tokenizer is not that of the model"):
        choose_drafts(model, 3, None, saved(size, Path("other.json").read_bytes()))
    save(exported("llama"))
    with pytest.raises(InputError, match=r"model.onnx: has 64 tokens, the model 2048"):
        choose_drafts(model, 3, None, Path("model.onnx"))


@pytest.mark.parametrize("vocabulary", [63, 65])
def test_little_models_of_more_or_fewer_tokens_are_refused(model, vocabulary):
    save(exported("llama"))
    message = f"model.onnx: has 64 tokens, the model {vocabulary}"
    with pytest.raises(InputError, match=message):
        little_model(Path("model.onnx"), model.tokenizer, vocabulary, 16)


def test_nothing_is_foretold_unless_asked_for(model):
    assert choose_drafts(model, None, None, None) == Drafts()
    with pytest.raises(InputError, match="--draft-text x: is for --speculate K"):
        choose_drafts(model, None, Path("x"), None)


@pytest.mark.parametrize("ngrams", [None, Path("nowhere")])
def test_without_n_grams_beside_the_model_only_the_text_foretells(model, ngrams):
    found = choose_drafts(replace(model, ngrams=ngrams), 3, None, None)
    assert (found.most, found.names) == (3, ("lookup",))
    assert found.note == "only the text so far foretells tokens; --draft-text takes a text to count"
    assert found.draft
    assert found.draft([1, 2, 3, 1, 2], 1) == [3]
