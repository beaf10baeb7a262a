"""Which guesses a text has, by options and files."""

from pathlib import Path

import pytest

from celosia.sim.command.models.drafts import Drafts, choose_drafts
from celosia.sim.command.models.text_model import project_model
from celosia.sim.support.problems import InputError
from celosia.sw.decoding.drafts.ngram_file import NGRAMS
from celosia.sw.reference.language.model_file import shipped_folder


@pytest.fixture(scope="module")
def model():
    """The project's model, and a prompt."""
    return project_model(None, "Return", 8)


def test_the_projects_model_has_n_grams_beside_it(model):
    found = choose_drafts(model, 3, None)
    assert (found.most, found.names, found.note) == (3, ("lookup", "n-grams"), "")
    assert found.draft
    text = model.tokenizer.encode("Raises an Attribute")
    assert "".join(model.tokenizer.pieces(iter(found.draft(text, 1)))) == "Error"
    assert model.ngrams == shipped_folder() / NGRAMS


def test_a_text_takes_their_place(model):
    Path("text.txt").write_text("Raises an Attribute of Raises an Attribute of")
    found = choose_drafts(model, 3, Path("text.txt"))
    assert found.names == ("lookup", "n-grams of text.txt")
    assert found.draft
    text = model.tokenizer.encode("Raises an Attribute")
    assert "".join(model.tokenizer.pieces(iter(found.draft(text, 1)))) == " of"


def test_nothing_is_foretold_unless_asked_for(model):
    assert choose_drafts(model, None, None) == Drafts()
    with pytest.raises(InputError, match="--draft-text x: is for --speculate K"):
        choose_drafts(model, None, Path("x"))
