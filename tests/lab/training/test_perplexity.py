"""Perplexity."""

import math

import numpy as np
import pytest

from celosia.lab.training.perplexity import log_likelihoods, score, windows
from celosia.lab.training.scorers import float_scorer
from celosia.sw.models.decoder_graph import llama_float_graph
from celosia.sw.reference.language.errors import TokenError
from tests.support.language import TINY, random_weights


def test_each_token_but_the_first_is_foretold_once():
    for length in (2, 4, 5, 9, 10):
        tokens = list(range(length))
        parts = list(windows(tokens, 4))
        assert [token for _, following in parts for token in following] == tokens[1:]
        assert all(0 < len(seen) == len(following) <= 4 for seen, following in parts)
        assert all(following[0] == seen[0] + 1 for seen, following in parts)


def test_the_perplexity_of_a_model_that_knows_nothing_is_its_vocabulary():
    found = score(lambda tokens: np.zeros((len(tokens), 24), np.float32), [1, 2, 3, 4, 5, 6], 4)
    assert found.tokens == 5
    assert math.isclose(found.perplexity, 24, rel_tol=1e-6)


def test_a_model_is_scored_as_it_foretells():
    weights = random_weights()
    tokens = np.random.default_rng(0).integers(0, TINY.vocabulary, 20).tolist()
    scorer = float_scorer(llama_float_graph(weights, 20))
    logits = [scorer(tokens[:9][: place + 1])[-1] for place in range(9)]
    total = sum(
        math.log(np.exp(row[token]) / np.exp(row).sum())
        for row, token in zip(logits, tokens[1:10], strict=True)
    )
    found = score(scorer, tokens[:10], 9)
    assert math.isclose(found.total, total, rel_tol=1e-5)
    assert math.isclose(found.perplexity, math.exp(-total / 9), rel_tol=1e-5)


def test_one_token_has_no_perplexity():
    with pytest.raises(TokenError, match="1 tokens: none of them follows another"):
        score(lambda tokens: np.zeros((len(tokens), 24), np.float32), [1], 4)


def test_log_likelihoods_are_those_of_a_softmax():
    logits = np.array([[0, math.log(3)], [1000, -1000]], np.float32)
    np.testing.assert_allclose(log_likelihoods(logits, [1, 0]), [math.log(0.75), 0], atol=1e-6)
    assert log_likelihoods(logits, [0, 1])[1] == -2000
