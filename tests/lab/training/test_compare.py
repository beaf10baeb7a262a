"""A model beside 3-grams."""

from collections.abc import Sequence

import pytest

from celosia.lab.training import compare
from celosia.lab.training.compare import (
    calibration_windows,
    compare_with_trigrams,
    held_out_tokens,
)
from celosia.lab.training.text.corpora import Corpus
from celosia.lab.training.text.corpus import corpus_key
from celosia.sw.reference.language.model_file import TOKENIZER, LanguageModel, shipped_folder
from celosia.sw.reference.language.tokenizer import TextTokenizer
from tests.support.language import random_weights, small_shape

SHAPE = small_shape(layers=1, width=16, heads=2, key_heads=1, hidden=16, context=16)
TEXTS = ["Return a copy of the list.", "Return a copy of the string, in lower case."] * 4


def a_model(learned: Sequence[str] = ()) -> LanguageModel:
    tokenizer = TextTokenizer(shipped_folder() / TOKENIZER)
    return LanguageModel(random_weights(SHAPE), tokenizer, {"text": corpus_key(learned)})


def test_both_are_scored_on_the_same_tokens(monkeypatch):
    monkeypatch.setattr(compare, "held_out_texts", lambda: [("a", text) for text in TEXTS[:2]])
    texts: dict[Corpus, list[str]] = {"docstrings": TEXTS}
    found = compare_with_trigrams(a_model(TEXTS), texts)
    trigrams = found.trigrams["docstrings"]
    assert found.model.tokens == trigrams.tokens == len(held_out_tokens(a_model())) - 1
    assert trigrams.perplexity < 3
    assert found.model.perplexity > 1000
    assert found.same_text
    assert not compare_with_trigrams(a_model(), texts).same_text


def test_3_grams_are_of_each_text_and_the_last_one_is_what_was_learned(monkeypatch):
    monkeypatch.setattr(compare, "held_out_texts", lambda: [("a", text) for text in TEXTS[:2]])
    model = a_model(TEXTS)
    model = LanguageModel(model.weights, model.tokenizer, {**model.origin, "corpus": "manual"})
    others = ["Say nothing of the kind to anybody, ever."]
    found = compare_with_trigrams(model, {"docstrings": others, "manual": TEXTS})
    assert found.trigrams["manual"].perplexity < 3 < found.trigrams["docstrings"].perplexity
    assert found.same_text
    assert not compare_with_trigrams(model, {"docstrings": TEXTS}).same_text


@pytest.mark.parametrize("count", [1, 3])
def test_windows_for_calibration_are_spread_over_the_texts(count):
    model = a_model()
    tokens, found = model.tokenizer.stream(TEXTS), calibration_windows(model, TEXTS, count)
    assert found[0] == tokens[:16]
    assert [len(window) for window in found] == [16] * count


def test_a_short_text_is_one_window():
    assert len(calibration_windows(a_model(), ["Return."], 4)) == 1
