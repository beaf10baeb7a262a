"""The float32 decoder, against one that is written token by token, and against itself in pieces."""

import cmath
import math

import numpy as np
import pytest

from celosia.sw.reference.language.decoder import Cache, LlamaWeights, forward, log_likelihoods
from celosia.sw.reference.language.errors import TokenError
from celosia.sw.reference.language.shape import tensor_shapes
from tests.support.language import TINY, random_weights, small_shape

TOKENS = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]


def plain_logits(weights: LlamaWeights, tokens: list[int]) -> np.ndarray:
    """The last token's logits in float64, one vector after the other."""
    shape, half = weights.shape, weights.shape.head_width // 2

    def norm(x, gamma):
        return np.asarray(x) / math.sqrt(np.dot(x, x) / len(x) + 1e-5) * gamma

    def turned(head, place):
        turns = [cmath.exp(1j * place * 10_000 ** (-index / half)) for index in range(half)]
        pairs = [complex(head[i], head[i + half]) * turns[i] for i in range(half)]
        return [pair.real for pair in pairs] + [pair.imag for pair in pairs]

    def heads(x, count, place=None):
        parts = [list(part) for part in np.split(np.asarray(x), count)]
        return parts if place is None else [turned(part, place) for part in parts]

    rows = [weights["embedding"][token].astype(float) for token in tokens]
    for index in range(shape.layers):
        layer = {name: weights[f"{index}.{name}"].astype(float) for name in names()}
        inputs = [np.asarray(norm(row, layer["attention_norm"])) for row in rows]
        keys = [heads(x @ layer["key"], shape.key_heads, place) for place, x in enumerate(inputs)]
        values = [heads(x @ layer["value"], shape.key_heads) for x in inputs]
        for place, x in enumerate(inputs):
            context = []
            for head, q in enumerate(heads(x @ layer["query"], shape.heads, place)):
                group = head * shape.key_heads // shape.heads
                seen = range(place + 1)
                scores = [np.dot(q, keys[at][group]) / math.sqrt(2 * half) for at in seen]
                powers = [math.exp(score) for score in scores]
                total = sum(powers)
                parts = [powers[at] / total * np.asarray(values[at][group]) for at in seen]
                context += np.sum(parts, axis=0).tolist()
            row = rows[place] + np.asarray(context) @ layer["output"]
            y = np.asarray(norm(row, layer["norm"]))
            gate = y @ layer["gate"]
            hidden = gate / (1 + np.exp(-gate)) * (y @ layer["up"])
            rows[place] = row + hidden @ layer["down"]
    return np.asarray(norm(rows[-1], weights["norm"])) @ weights["embedding"].T.astype(float)


def names() -> set[str]:
    return {name.partition(".")[2] for name in tensor_shapes(TINY) if name.startswith("0.")}


def whole(weights: LlamaWeights, tokens: list[int]) -> np.ndarray:
    return forward(weights, tokens, Cache(weights.shape, len(tokens)))


def test_it_is_what_a_plain_decoder_computes():
    weights = random_weights()
    found = whole(weights, TOKENS)
    for length in (1, 2, len(TOKENS)):
        expected = plain_logits(weights, TOKENS[:length])
        np.testing.assert_allclose(found[length - 1], expected, atol=2e-5)


@pytest.mark.parametrize("cut", range(1, len(TOKENS)))
def test_prefill_and_steps_are_prefill_of_all(cut):
    weights = random_weights()
    cache, other = Cache(TINY, len(TOKENS)), Cache(TINY, 20)
    all_at_once = forward(weights, TOKENS, cache)
    parts = [forward(weights, TOKENS[:cut], other)]
    parts += [forward(weights, [token], other) for token in TOKENS[cut:]]
    np.testing.assert_allclose(np.concatenate(parts), all_at_once, atol=1e-5)
    assert other.length == cache.length == len(TOKENS)
    np.testing.assert_allclose(other.keys[:, :, : len(TOKENS)], cache.keys, atol=1e-5)
    np.testing.assert_allclose(other.values[:, :, : len(TOKENS)], cache.values, atol=1e-5)


def test_a_token_does_not_see_those_behind_it():
    weights = random_weights()
    before = whole(weights, [1, 2, 3, 4])
    after = whole(weights, [1, 2, 3, 5])
    np.testing.assert_array_equal(before[:3], after[:3])
    assert np.abs(before[3] - after[3]).max() > 0.1


def test_what_takes_the_place_of_a_result_goes_on():
    weights, seen = random_weights(), []

    def through(name, value):
        seen.append(name)
        return value * 0 if name == "output" else value

    logits = forward(weights, TOKENS, Cache(TINY, 16), through)
    assert not logits.any()
    inside = ["input", "query", "key", "value", "context", "attention_sum", "attention", "gate"]
    inside += ["up", "hidden", "sum"]
    layers = [f"{index}.{name}" for index in range(TINY.layers) for name in inside]
    assert seen == ["embedding", *layers, "output"]


def test_log_likelihoods_are_those_of_a_softmax():
    logits = np.array([[0, math.log(3)], [1000, -1000]], np.float32)
    np.testing.assert_allclose(log_likelihoods(logits, [1, 0]), [math.log(0.75), 0], atol=1e-6)
    assert log_likelihoods(logits, [0, 1])[1] == -2000


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ([], "no token"),
        ([1, 24], r"token 1 is 24, which is not in 0\.\.23"),
        ([-1], r"token 0 is -1, which is not in 0\.\.23"),
        ([1] * 4, "4 tokens after 2: the cache holds 5"),
    ],
)
def test_tokens_that_it_cannot_take_are_refused_and_the_cache_stays(tokens, message):
    weights, cache = random_weights(), Cache(TINY, 5)
    forward(weights, [1, 2], cache)
    keys = cache.keys.copy()
    with pytest.raises(TokenError, match=message):
        forward(weights, tokens, cache)
    assert cache.length == 2
    np.testing.assert_array_equal(cache.keys, keys)


def test_the_cache_of_another_model_and_one_for_nothing_are_refused():
    with pytest.raises(TokenError, match="this model's is"):
        forward(random_weights(), [1], Cache(small_shape(), 8))
    with pytest.raises(TokenError, match="a cache for 0 tokens"):
        Cache(TINY, 0)


def test_tensors_that_are_not_those_of_the_shape_are_refused():
    tensors = random_weights().tensors
    norm = tensors["norm"]
    for change, message in (
        ({"norm": norm[:3]}, r"tensor norm: its shape is \(3,\), not \(16,\)"),
        ({"norm": norm * np.float32(np.nan)}, "tensor norm: has numbers that are not finite"),
        ({"other": norm}, "tensor other: is superfluous"),
    ):
        with pytest.raises(ValueError, match=message):
            LlamaWeights(TINY, {**tensors, **change})
    with pytest.raises(ValueError, match="tensor norm: is missing"):
        LlamaWeights(TINY, {name: x for name, x in tensors.items() if name != "norm"})
