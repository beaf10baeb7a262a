"""Encoders of fewer tokens in later layers."""

from dataclasses import replace

import numpy as np
import pytest

from celosia.lab.prune.parts.tokens import encode_fewer, parse_drops, pieces, received
from celosia.sim.support.problems import InputError
from celosia.sw.reference.encoder import EncoderShape, encode
from celosia.sw.reference.random_encoder import random_encoder

SHAPE = EncoderShape(layers=3, width=16, heads=2, hidden=32)
LENGTHS = [6, 9]


def drops(text):
    return parse_drops("--drop-tokens", text)


@pytest.fixture(name="weights")
def _weights():
    return random_encoder(SHAPE, 0)


@pytest.fixture(name="x")
def _x():
    return np.random.default_rng(1).normal(size=(sum(LENGTHS), 16)).astype(np.float32)


def test_without_drops_it_is_the_encoder(weights, x):
    found, left = encode_fewer(weights, x, LENGTHS, ())
    np.testing.assert_array_equal(found, encode(weights, x, LENGTHS))
    assert left == LENGTHS


def test_pieces_that_lose_nothing_are_the_encoder(weights, x):
    """A share that is less than one token: the norm between two pieces is that of the layer."""
    found, left = encode_fewer(weights, x, LENGTHS, drops("1%@1,1%@2"))
    np.testing.assert_allclose(found, encode(weights, x, LENGTHS), atol=1e-5)
    assert left == LENGTHS


def test_shares_are_of_what_is_left(weights, x):
    found, left = encode_fewer(weights, x, LENGTHS, drops("50%@1,50%@2"))
    assert left == [2, 3]
    assert found.shape == (5, 16)


def test_later_layers_see_the_rows_that_stay(weights, x):
    """Keys that are alike receive alike: then the first rows stay, in order."""
    first, *others = weights.layers
    alike = replace(first.key, weights=np.zeros_like(first.key.weights))
    weights = replace(weights, layers=(replace(first, key=alike), *others))
    found, left = encode_fewer(weights, x, LENGTHS, drops("50%@1"))
    assert left == [3, 5]
    seen = {}
    encode(weights, x, LENGTHS, seen.__setitem__)
    rows = seen["0.sum"][[0, 1, 2, 6, 7, 8, 9, 10]]
    behind = replace(
        weights, shape=SHAPE.with_layers(2), norm=first.norm, layers=weights.layers[1:]
    )
    np.testing.assert_allclose(found, encode(behind, rows, left), atol=1e-5)


def test_a_token_that_all_queries_look_at_receives_all():
    queries, keys = np.full((3, 4), 9.0, np.float32), np.zeros((5, 4), np.float32)
    keys[2] = 9
    found = received(queries, keys, 2)
    np.testing.assert_allclose(found, [0, 0, 1, 0, 0], atol=1e-6)
    np.testing.assert_allclose(received(queries * 0, keys, 2), 0.2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("50%", "--drop-tokens 50%: is no share and layer such as 50%@3"),
        ("3@1", "--drop-tokens 3: is not a share such as 25%"),
        ("100%@1", "a share is above 0% and below 100%"),
        ("10%@2,10%@2", "layer 2 is not behind the one before it"),
        ("10%@0", "layer 0 is not behind the one before it"),
    ],
)
def test_texts_that_are_none_are_refused(text, message):
    with pytest.raises(InputError) as caught:
        drops(text)
    assert message in str(caught.value)


def test_a_layer_that_nothing_follows_is_refused(weights):
    with pytest.raises(InputError, match="no layer follows layer 3 of 3"):
        list(pieces(weights, LENGTHS, drops("10%@3")))
