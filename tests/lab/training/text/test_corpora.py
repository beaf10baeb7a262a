"""Texts by their keys."""

import pytest

from celosia.lab.training.text import corpora
from celosia.lab.training.text.corpora import CORPORA, corpora_of, corpus_texts
from celosia.sw.reference.language.model_file import LanguageModel, load_language_model


def test_the_manual_comes_behind_the_docstrings(monkeypatch):
    monkeypatch.setattr(corpora, "training_texts", lambda: ["a"])
    monkeypatch.setattr(corpora, "manual_texts", lambda learned: [f"behind {learned}"])
    assert corpus_texts("docstrings") == ["a"]
    assert corpus_texts("manual") == ["a", "behind ['a']"]


@pytest.mark.parametrize(
    ("origin", "found"),
    [
        ({}, ("docstrings",)),
        ({"corpus": "docstrings"}, ("docstrings",)),
        ({"corpus": "manual"}, CORPORA),
        ({"corpus": 7}, ("docstrings",)),
    ],
)
def test_a_model_says_what_it_learned(origin, found):
    model = load_language_model()
    assert corpora_of(LanguageModel(model.weights, model.tokenizer, origin)) == found
