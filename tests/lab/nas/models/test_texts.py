"""The tokens of a search."""

import numpy as np
import pytest

from celosia.lab.nas.models import texts
from celosia.lab.nas.models.texts import read_texts
from celosia.lab.training.text.corpus import Document, part_of
from celosia.sw.reference.language.model_file import load_language_model

HELD_OUT = [("a", "One text."), ("b", "Two more texts.")]


def module(part):
    """A name of this part."""
    return next(name for name in map("module{}".format, range(99)) if part_of(name) == part)


@pytest.fixture
def few(monkeypatch):
    """A few documents."""
    found = [
        Document(module("validation"), "Validation text."),
        Document(module("held-out"), "Something else."),
    ]
    monkeypatch.setattr(texts, "documents", lambda: found)
    monkeypatch.setattr(texts, "corpus_texts", lambda _: ["Learned text.", "More of it."])
    monkeypatch.setattr(texts, "held_out_texts", lambda: HELD_OUT)


def test_each_token_behind_the_first_has_its_document(few):
    """A stream has an end before each text and behind the last: it belongs to the one before."""
    tokenizer = load_language_model().tokenizer
    found = read_texts("docstrings")
    lengths = [len(tokenizer.encode(text)) + 1 for text in ("One text.", "Two more texts.")]
    assert found.counts.tolist() == lengths
    assert len(found.documents) == len(found.held_out) - 1 == sum(lengths)
    assert found.held_out[1 : lengths[0]].tolist() == list(tokenizer.encode("One text."))


def test_the_three_texts_are_apart(few):
    tokenizer = load_language_model().tokenizer
    found = read_texts("docstrings")
    assert tokenizer.stream(["Validation text."]) == found.validation.tolist()
    assert tokenizer.stream(["Learned text.", "More of it."]) == found.learned.tolist()
    assert found.learned.dtype == np.uint16
