"""How tokens are chosen."""

from itertools import islice

import numpy as np
import pytest

from celosia.sw.reference.language.errors import LanguageError, TokenError
from celosia.sw.reference.language.sampling import Sampler, generate

LOGITS = np.log(np.array([0.1, 0.4, 0.2, 0.3], np.float32))


def shares(sampler: Sampler, count: int = 4000) -> np.ndarray:
    """How often each token is drawn."""
    random = sampler.random()
    drawn = [sampler.choose(LOGITS, random) for _ in range(count)]
    return np.bincount(drawn, minlength=4) / count


def test_without_temperature_the_first_of_the_greatest_logits_is_taken():
    assert Sampler().choose(np.array([1, 3, 2, 3], np.float32), Sampler().random()) == 1


def test_a_temperature_of_1_draws_by_the_probabilities():
    np.testing.assert_allclose(shares(Sampler(temperature=1)), np.exp(LOGITS), atol=0.03)


def test_a_low_temperature_sharpens():
    expected = np.exp(LOGITS) ** 2 / np.sum(np.exp(LOGITS) ** 2)
    np.testing.assert_allclose(shares(Sampler(temperature=0.5)), expected, atol=0.03)


def test_top_p_leaves_as_few_tokens_as_have_that_much():
    found = shares(Sampler(temperature=1, top_p=0.65))
    np.testing.assert_allclose(found, [0, 4 / 7, 0, 3 / 7], atol=0.03)
    assert shares(Sampler(temperature=1, top_p=0.39))[1] == 1


def test_the_same_seed_draws_the_same():
    def text(seed: int) -> list[int]:
        sampler = Sampler(temperature=2, seed=seed)
        return list(generate(lambda _: LOGITS, [1, 2], 20, sampler))

    assert text(1) == text(1) != text(2)
    assert len(text(1)) == 20


def test_a_token_is_there_before_the_next_is_computed():
    taken = []

    def stepper(tokens):
        taken.append(list(tokens))
        return np.eye(8, dtype=np.float32)[len(taken)]

    tokens = generate(stepper, [5, 6], 9, Sampler())
    assert list(islice(tokens, 2)) == [1, 2]
    assert taken == [[5, 6], [1]]


def test_a_text_ends_with_its_end():
    def stepper(_tokens):
        return np.array([0, 1], np.float32)

    assert list(generate(stepper, [0], 9, Sampler(), end=1)) == []
    assert list(generate(stepper, [0], 3, Sampler(), end=0)) == [1, 1, 1]


def test_an_empty_prompt_and_numbers_out_of_range_are_refused():
    with pytest.raises(TokenError, match="an empty prompt"):
        next(generate(lambda _: LOGITS, [], 3, Sampler()))
    for temperature in (-1, float("nan"), float("inf")):
        with pytest.raises(LanguageError, match="temperature: "):
            Sampler(temperature=temperature)
    for top_p in (0, 1.1, float("nan")):
        with pytest.raises(LanguageError, match="top_p: "):
            Sampler(top_p=top_p)
