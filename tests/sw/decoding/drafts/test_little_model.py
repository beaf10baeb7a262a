"""A little model's guess is its most probable token, whatever it was asked before."""

import numpy as np
import pytest

from celosia.lab.training.scorers import float_scorer
from celosia.sw.decoding.drafts.little_model import LittleModel
from celosia.sw.models.decoder_graph import llama_float_graph
from tests.support.language import random_weights

CONTEXT = 12


def test_a_guess_does_not_depend_on_those_before_it():
    graph = llama_float_graph(random_weights(), CONTEXT)
    little, scorer = LittleModel(graph, CONTEXT), float_scorer(graph)
    long = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]
    texts = [long[:3], long[:4], [*long[:4], 7], long[:9], long[:9], long[:2], [7], long]
    for text in texts:
        token, probability = little(text) or (None, 0)
        logits = scorer(text)[-1].astype(np.float64)
        assert token == np.argmax(logits)
        shares = np.exp(logits) / np.exp(logits).sum()
        assert probability == pytest.approx(shares.max(), rel=1e-4)


def test_texts_that_it_cannot_take_have_no_guess():
    little = LittleModel(llama_float_graph(random_weights(), CONTEXT), CONTEXT)
    assert little([]) is None
    assert little([1] * (CONTEXT + 1)) is None
    assert little([1] * CONTEXT)
