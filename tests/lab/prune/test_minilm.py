"""Encoders with fewer hidden channels and heads."""

import numpy as np
import pytest

from celosia.lab.prune.minilm import calibrate, prune_encoder, varied, zero_encoder
from celosia.lab.prune.parts.share import parse_share
from celosia.lab.prune.pruned import Wanted
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.quantize.encoders.float_graph import encoder_float_graph, read_outline
from celosia.sw.reference.encoder import EncoderShape, encode
from celosia.sw.reference.random_encoder import random_embeddings, random_encoder

SHAPE = EncoderShape(layers=2, width=16, heads=2, hidden=64)
LENGTHS = [9, 30, 25]
FFN = parse_share("--ffn", "50%", numbers=False)
ONE_HEAD = parse_share("--heads", "1", numbers=True)
X = random_embeddings(SHAPE, LENGTHS, 1)


def test_calibration_sees_every_token(monkeypatch):
    monkeypatch.setattr("celosia.lab.prune.minilm._ROWS", 32)
    grams, seen = calibrate(random_encoder(SHAPE, 0), X, LENGTHS), {}
    encode(random_encoder(SHAPE, 0), X, LENGTHS, seen.__setitem__)
    read = ("hidden", "context", "input", "attention")
    assert set(grams) == {f"{layer}.{name}" for layer in (0, 1) for name in read}
    for name, gram in grams.items():
        rows = seen[name].astype(float)
        np.testing.assert_allclose(gram.products, rows.T @ rows, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(gram.sums, rows.sum(axis=0), rtol=1e-4, atol=1e-4)
        assert gram.rows == sum(LENGTHS)


@pytest.mark.parametrize("criterion", ["magnitude", "activation"])
def test_repair_comes_nearer(criterion):
    weights = random_encoder(SHAPE, 0)
    grams, exact = calibrate(weights, X, LENGTHS), encode(weights, X, LENGTHS)
    far, near = (
        prune_encoder(weights, grams, Wanted(criterion=criterion, ffn=FFN, repair=repair))
        for repair in (False, True)
    )
    assert near.shape.hidden == 32
    assert near.layers[1].up.weights.shape == (16, 32)
    errors = [np.square(encode(each, X, LENGTHS) - exact).mean() for each in (far, near)]
    assert errors[1] < errors[0] / 2


@pytest.mark.parametrize("criterion", ["magnitude", "activation"])
def test_repair_of_heads_comes_nearer(criterion):
    weights = random_encoder(SHAPE, 0)
    grams, exact = calibrate(weights, X, LENGTHS), encode(weights, X, LENGTHS)
    far, near = (
        prune_encoder(weights, grams, Wanted(criterion=criterion, heads=ONE_HEAD, repair=repair))
        for repair in (False, True)
    )
    assert (near.shape.heads, near.shape.attention, near.shape.head_width) == (1, 8, 8)
    assert near.layers[1].key.weights.shape == (16, 8)
    assert near.layers[1].output.weights.shape == (8, 16)
    errors = [np.square(encode(each, X, LENGTHS) - exact).mean() for each in (far, near)]
    assert errors[1] < errors[0]


@pytest.mark.parametrize("criterion", ["magnitude", "activation"])
def test_a_head_that_nobody_reads_goes_and_nothing_changes(criterion):
    weights = random_encoder(SHAPE, 0)
    weights.layers[0].output.weights[:8] = 0
    weights.layers[1].output.weights[8:] = 0
    grams, exact = calibrate(weights, X, LENGTHS), encode(weights, X, LENGTHS)
    less = prune_encoder(weights, grams, Wanted(criterion=criterion, heads=ONE_HEAD, repair=False))
    np.testing.assert_allclose(encode(less, X, LENGTHS), exact, rtol=1e-4, atol=1e-4)
    graph = encoder_float_graph(less, LENGTHS)
    found = interpret(graph, {"embedding": X})["output"]
    np.testing.assert_allclose(found, exact, rtol=1e-3, atol=1e-3)
    assert read_outline(encoder_float_graph(less, [9])).shape == less.shape


def test_copies_have_other_words_between_the_marks():
    texts = [[101, *range(5, 905), 102], [101, 7, 102]]
    found = varied(texts, 3000)
    assert [len(text) for text in found] == [902] * 4 + [3] * 4
    assert (found[0], found[4]) == tuple(texts)
    for copy in found[1:4]:
        assert (copy[0], copy[-1]) == (101, 102)
        others = [new for new, old in zip(copy, texts[0], strict=True) if new != old]
        assert 90 < len(others) < 180
        assert all(2000 <= each < 3000 for each in others)
    assert found[1] != found[2]
    assert found == varied(texts, 3000)


def test_tiles_of_zeros_are_in_every_matrix():
    weights = random_encoder(SHAPE, 0)
    grams, exact = calibrate(weights, X, LENGTHS), encode(weights, X, LENGTHS)
    share = parse_share("--tiles", "50%", numbers=False)
    far, near = (
        zero_encoder(
            weights, grams, Wanted(criterion="activation", tiles=share, dim=8, repair=repair)
        )
        for repair in (False, True)
    )
    for layer in (*far.layers, *near.layers):
        for name in ("query", "key", "value", "output", "up", "down"):
            assert np.mean(getattr(layer, name).weights == 0) == 0.5, name
    errors = [np.square(encode(each, X, LENGTHS) - exact).mean() for each in (far, near)]
    assert errors[1] < errors[0]
