"""The 3-gram model, against probabilities that were counted by hand."""

import math

import numpy as np
import pytest

from celosia.lab.training.ngram import Trigrams

TEXT = [0, 1, 2, 0, 1, 3, 0, 1, 2, 0]


@pytest.mark.parametrize("context", [(), (1,), (0, 1), (3, 3), (2, 1), (4, 0, 1)])
def test_the_probabilities_of_all_tokens_add_up_to_1(context):
    model = Trigrams(TEXT, 5)
    total = sum(model.probability(context, token) for token in range(5))
    assert math.isclose(total, 1)
    assert all(model.probability(context, token) > 0 for token in range(5))


def test_a_small_text_is_counted_as_by_hand():
    # 3-grams: 012 twice, 120 twice, 201, 013, 130, 301 once: D = 4 / (4 + 2 * 2).
    # Contexts of 2-grams: 12, 20, 13, 30 once, 01 twice (2 and 3 before it): D = 4 / (4 + 2).
    # Contexts of single tokens: 0 twice, 1, 2, 3 once: D = 3 / (3 + 2).
    model = Trigrams(TEXT, 5)
    one = (1 - 0.6) / 5 + 0.6 * 4 / 5 / 5
    two = (1 - 2 / 3) / 2 + 2 / 3 * 2 / 2 * one
    three = (2 - 0.5) / 3 + 0.5 * 2 / 3 * two
    assert math.isclose(model.probability((), 2), one)
    assert math.isclose(model.probability((1,), 2), two)
    assert math.isclose(model.probability((0, 1), 2), three)


def test_a_shorter_n_gram_counts_what_stands_before_it():
    """All n-grams follow one token each, so D = 4 / 4: nothing is kept, and all is uniform.

    01 stands before two tokens, and behind one: that is what counts.
    """
    model = Trigrams([0, 1, 2, 0, 1, 3], 5)
    for context in ((), (0,), (1,), (2,), (0, 1)):
        assert [model.probability(context, token) for token in range(5)] == pytest.approx([0.2] * 5)


def test_the_likelihood_of_a_text_is_that_of_its_tokens():
    model = Trigrams(TEXT, 5)
    expected = math.log(model.probability((0,), 1)) + math.log(model.probability((0, 1), 2))
    assert math.isclose(model.log_likelihood([0, 1, 2]), expected)


def test_it_learns_what_follows_from_two_tokens():
    random = np.random.default_rng(0)
    tokens = [0, 1]
    for _ in range(4000):
        tokens.append((tokens[-1] + tokens[-2] + int(random.random() < 0.1)) % 8)
    model = Trigrams(tokens[:3000], 8)
    found = -model.log_likelihood(tokens[3000:]) / (len(tokens) - 3001)
    entropy = -(0.1 * math.log(0.1) + 0.9 * math.log(0.9))
    assert entropy * 0.8 < found < entropy * 1.4


def test_texts_that_it_cannot_count_are_refused():
    with pytest.raises(ValueError, match="tokens: 2 have no three in a row"):
        Trigrams([0, 1], 5)
    with pytest.raises(ValueError, match=r"tokens: 0\.\.5 are not in 0\.\.4"):
        Trigrams([0, 5, 1], 5)
