"""The float32 encoder, against definitions written out here and published figures."""

from math import erf

import numpy as np
import pytest

from celosia.sw.reference.embedding import Embeddings, pool
from celosia.sw.reference.encoder import (
    EncoderShape,
    attend,
    encode,
    gelu,
    normalize,
    segments,
)
from celosia.sw.reference.random_encoder import random_embeddings, random_encoder

SMALL = EncoderShape(layers=2, width=24, heads=3, hidden=40)


def test_gelu_is_exact_to_float32():
    x = np.linspace(-9, 9, 5001).astype(np.float32).reshape(-1, 3)
    real = np.array([float(v) * (1 + erf(float(v) / 2**0.5)) / 2 for v in x.flat])
    assert np.abs(gelu(x).ravel() - real).max() < 1e-6


def test_normalization_gives_mean_zero_and_deviation_one():
    x = np.random.default_rng(0).normal(3, 5, (4, 50)).astype(np.float32)
    y = normalize(x)
    assert np.abs(y.mean(axis=1)).max() < 1e-6
    assert np.abs(y.std(axis=1) - 1).max() < 1e-5


def test_attention_is_a_weighted_mean_of_values():
    random = np.random.default_rng(1)
    q, k, v = (random.normal(0, 1, (5, 8)).astype(np.float32) for _ in range(3))
    result = attend(q, k, v, heads=2)
    for head in range(2):
        cols = slice(4 * head, 4 * head + 4)
        for row in range(5):
            weights = np.array([np.exp(q[row, cols] @ key[cols] / 2) for key in k])
            expected = weights @ v[:, cols] / weights.sum()
            assert result[row, cols] == pytest.approx(expected, rel=1e-5, abs=1e-6)


def test_a_text_does_not_depend_on_the_others():
    weights = random_encoder(SMALL, 3)
    lengths = [4, 1, 7]
    x = random_embeddings(SMALL, lengths, 4)
    together = encode(weights, x, lengths)
    for rows in segments(lengths):
        alone = encode(weights, x[rows], [rows.stop - rows.start])
        assert np.abs(together[rows] - alone).max() < 1e-5


def test_every_named_result_is_observed_in_order():
    seen = []
    weights = random_encoder(SMALL, 3)
    encode(weights, random_embeddings(SMALL, [3], 0), [3], lambda name, value: seen.append(name))
    attention = ["input", "query", "key", "value", "context", "attention_sum"]
    layer = [*attention, "attention", "up", "hidden", "sum"]
    expected = ["embedding", *(f"0.{name}" for name in layer), *(f"1.{name}" for name in layer)]
    assert seen == [*expected, "output"]


@pytest.mark.parametrize("field", ["layers", "width", "heads", "hidden"])
def test_sizes_are_positive(field):
    sizes = {"layers": 1, "width": 4, "heads": 2, "hidden": 8, field: 0}
    with pytest.raises(ValueError, match=f"{field}: 0 is not positive"):
        EncoderShape(**sizes)


def test_heads_divide_the_width():
    with pytest.raises(ValueError, match="heads: 3 do not divide a width of 4"):
        EncoderShape(layers=1, width=4, heads=3, hidden=8)


def test_embeddings_are_summed_and_tokens_averaged():
    tables = Embeddings(
        np.arange(12, dtype=np.float32).reshape(4, 3), np.array([[0, 1, 2], [9, 9, 9]], np.float32)
    )
    assert tables.sums([[3], [0, 1]]).tolist() == [[9, 11, 13], [0, 2, 4], [12, 13, 14]]
    vectors = pool(np.array([[3, 4], [1, 0], [-1, 2]], np.float32), [1, 2])
    assert vectors.tolist() == [[pytest.approx(0.6), pytest.approx(0.8)], [0, 1]]


def test_random_weights_are_those_of_their_seed():
    one, same, other = (random_encoder(SMALL, seed) for seed in (5, 5, 6))
    assert (one.layers[1].up.weights == same.layers[1].up.weights).all()
    assert (one.layers[1].up.weights != other.layers[1].up.weights).any()
