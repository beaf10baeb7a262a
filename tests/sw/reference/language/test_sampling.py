"""How tokens are chosen."""

from itertools import islice

import numpy as np
import pytest

from celosia.sw.reference.language.errors import LanguageError, TokenError
from celosia.sw.reference.language.random_words import RandomWords
from celosia.sw.reference.language.sampling import HALVES, STEPS, Sampler, generate

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


@pytest.mark.parametrize(
    ("top_p", "kept"),
    [(0.25, 1), (0.26, 2), (0.5, 2), (0.5001, 3), (0.75, 3), (1.0, 4), (1e-9, 1)],
)
def test_of_equal_tokens_the_first_ones_are_as_few_as_have_exactly_that_much(top_p, kept):
    sampler = Sampler(temperature=1, top_p=top_p)
    random, equal = sampler.random(), np.zeros(4, np.float32)
    assert {sampler.choose(equal, random) for _ in range(200)} == {*range(kept)}


def test_weights_are_powers_in_steps_of_a_1024th_of_a_half():
    """`HALVES` by integers alone: w^1024 = 2^(31 * 1024 - n), within half a unit."""
    for n in (0, 1, 2, 511, 512, 1000, 1023):
        twice = 2 * int(HALVES[n])
        power = 1 << (32 * STEPS - n)
        assert (twice - 1) ** STEPS < power < (twice + 1) ** STEPS or twice == 2 << 31
    half = np.log(2)
    logits = np.array([5, 5 - half, 5 - 3 * half, 5 - 30.9 * half, 5 - 32 * half, -np.inf])
    assert Sampler(temperature=1).weights(logits).tolist() == [2**31, 2**30, 2**28, 1, 0, 0]
    steps = np.array([0, 0.49, 0.51, 10.49, 10.51]) * half / STEPS
    weights = [HALVES[n] for n in (0, 0, 1, 10, 11)]
    assert Sampler(temperature=1).weights(-steps).tolist() == weights
    assert Sampler(temperature=2).weights(-2 * steps).tolist() == weights


def test_a_text_is_drawn_from_integers_that_are_stated():
    """Ten tokens, drawn by this test's own few lines."""
    sampler, words = Sampler(temperature=0.8, top_p=0.9, seed=11), RandomWords(11)
    drawn, below = sampler.random(), LOGITS.max() - LOGITS.astype(np.float64)
    weights = [
        int(HALVES[n % 1024]) >> n // 1024
        for n in (round(x) for x in below / 0.8 * 1024 / np.log(2))
    ]
    tokens = sorted(range(4), key=lambda token: -weights[token])
    while sum(weights[token] for token in tokens[:-1]) >= 0.9 * sum(weights):
        tokens.pop()
    sums = [sum(weights[token] for token in tokens[: place + 1]) for place in range(len(tokens))]
    for _ in range(10):
        number = words.below(sums[-1])
        place = sum(above <= number for above in sums)
        assert sampler.choose(LOGITS, drawn) == tokens[place]


class Counted:
    """A text whose logits are those of `following`, of the tokens so far, and what it was given."""

    def __init__(self, following):
        self.following, self.tokens, self.given = following, [], []

    def append(self, tokens):
        self.given.append(list(tokens))
        rows = []
        for token in tokens:
            self.tokens.append(token)
            rows.append(self.following(self.tokens))
        return np.array(rows, np.float32)

    def go_back(self, length):
        del self.tokens[length:]


def constant(_):
    return LOGITS


def mixed(tokens):
    """Logits (6) that depend on all tokens so far."""
    return np.random.default_rng(tokens).normal(size=6)


def test_the_same_seed_draws_the_same():
    def text(seed: int) -> list[int]:
        sampler = Sampler(temperature=2, seed=seed)
        return list(generate(Counted(constant), [1, 2], 20, sampler))

    assert text(1) == text(1) != text(2)
    assert len(text(1)) == 20


def test_a_token_is_there_before_the_next_is_computed():
    text = Counted(lambda tokens: np.eye(8)[len(tokens) - 1])
    assert list(islice(generate(text, [5, 6], 9, Sampler()), 2)) == [1, 2]
    assert text.given == [[5, 6], [1]]


def test_a_text_ends_with_its_end():
    def second(_):
        return [0, 1]

    assert list(generate(Counted(second), [0], 9, Sampler(), end=1)) == []
    assert list(generate(Counted(second), [0], 3, Sampler(), end=0)) == [1, 1, 1]


@pytest.mark.parametrize("temperature", [0, 0.7, 2])
@pytest.mark.parametrize("most", [1, 3, 15])
def test_drafts_never_change_a_text(temperature, most):
    """Right, half right and wrong ones, too many and none: by ends, counts and seeds."""
    for seed in range(6):
        sampler, ends = Sampler(temperature=temperature, top_p=0.9, seed=seed), (None, 2, 5)
        for end, count in zip(ends, (30, 17, 1), strict=True):
            plain = list(generate(Counted(mixed), [1, seed], count, sampler, end=end))
            random = np.random.default_rng(seed)

            def draft(text, count, plain=plain, random=random):
                right = plain[len(text) - 2 :][: min(most, count)]
                return [x if random.random() < 0.7 else (x + 1) % 6 for x in right]

            text = Counted(mixed)
            found = list(generate(text, [1, seed], count, sampler, end=end, draft=draft))
            assert found == plain
            assert text.given[0] == [1, seed]
            assert len(text.given) <= len(plain) + 1


def test_a_right_draft_saves_steps_and_asks_for_no_more_than_are_wanted():
    asked = []

    def draft(text, count):
        asked.append(count)
        return [(text[-1] + place) % 6 for place in range(1, min(count, 3) + 1)]

    text = Counted(lambda tokens: np.eye(6)[(tokens[-1] + 1) % 6])
    assert list(generate(text, [0], 8, Sampler(), draft=draft)) == [1, 2, 3, 4, 5, 0, 1, 2]
    assert text.given == [[0], [1, 2, 3, 4], [5, 0, 1]]
    assert asked == [6, 2]


def test_what_was_wrong_is_forgotten_and_its_row_chooses_the_token():
    text = Counted(lambda tokens: np.eye(6)[(tokens[-1] + 1) % 6])
    draft = {2: [2, 4, 5], 4: [0, 0]}
    found = generate(text, [0], 4, Sampler(), draft=lambda text, _: draft.get(len(text), []))
    assert list(found) == [1, 2, 3, 4]
    assert text.given == [[0], [1, 2, 4, 5], [3, 0, 0]]
    assert text.tokens == [0, 1, 2, 3]
    text = Counted(lambda tokens: np.eye(6)[(tokens[-1] + 1) % 6])
    found = generate(text, [0], 9, Sampler(), end=3, draft=lambda text, _: [2, 3, 4, 5])
    assert list(found) == [1, 2]
    assert text.tokens == [0, 1, 2]


def test_drafts_keep_the_distribution():
    """No share of two tokens, in 6,000 texts, is further from its own than 4.5 deviations."""
    count, logits = 6000, np.log([[0.1, 0.4, 0.2, 0.3], [0.7, 0.1, 0.1, 0.1]])
    found = np.zeros((4, 4))
    random = np.random.default_rng(5)
    for seed in range(count):
        text = Counted(lambda tokens: logits[tokens[-1] % 2])
        sampler = Sampler(temperature=1, seed=seed)

        def draft(_, count):
            return random.integers(0, 4, count).tolist()

        _, first, second, _ = generate(text, [0], 4, sampler, draft=draft)
        found[first, second] += 1
    start = np.exp(logits[0])
    step = np.exp(logits[[0, 1, 0, 1]])
    expected = (start @ step)[:, None] * step
    deviations = (found - count * expected) / np.sqrt(count * expected * (1 - expected))
    assert np.abs(deviations).max() < 4.5


def test_an_empty_prompt_and_numbers_out_of_range_are_refused():
    with pytest.raises(TokenError, match="an empty prompt"):
        next(generate(Counted(constant), [], 3, Sampler()))
    for temperature in (-1, float("nan"), float("inf")):
        with pytest.raises(LanguageError, match="temperature: "):
            Sampler(temperature=temperature)
    for top_p in (0, 1.1, float("nan")):
        with pytest.raises(LanguageError, match="top_p: "):
            Sampler(top_p=top_p)
    for seed in (-1, 1 << 64):
        with pytest.raises(LanguageError, match=rf"seed: {seed} is not in 0\.\.2\^64-1"):
            Sampler(seed=seed)
