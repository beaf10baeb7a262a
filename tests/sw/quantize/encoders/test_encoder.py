"""Quantization of encoders with random weights."""

from dataclasses import replace

import numpy as np
import pytest

from celosia.sw.ir.graph import LayerNorm
from celosia.sw.ir.graph_interpret import interpret
from celosia.sw.models.cases import random_integer_encoder
from celosia.sw.models.encoder import encoder_graph
from celosia.sw.quantize.encoders.encoder import quantize_encoder
from celosia.sw.reference.embedding import Embeddings
from celosia.sw.reference.encoder import EncoderShape, Linear, encode
from celosia.sw.reference.random_encoder import random_embeddings, random_encoder

SHAPE = EncoderShape(layers=2, width=48, heads=4, hidden=96)
LENGTHS = [30, 50]
WEIGHTS = random_encoder(SHAPE, 0)
X = random_embeddings(SHAPE, LENGTHS, 1)


def test_the_integer_encoder_is_near_the_real_one():
    model = random_integer_encoder(SHAPE, 0)
    lengths = [17, 5]
    x = random_embeddings(SHAPE, lengths, 9)
    inputs = {"embedding": np.rint(x / model.scalar("embedding.step")).astype(np.int16)}
    values = interpret(encoder_graph(model, lengths), inputs)
    found = values["output"] * model.scalar("output.step")
    real = encode(WEIGHTS, x, lengths)
    norms = np.linalg.norm(found, axis=1) * np.linalg.norm(real, axis=1)
    assert (np.einsum("ij,ij->i", found, real) / norms).min() > 0.99
    assert np.linalg.norm(found) == pytest.approx(np.linalg.norm(real), rel=0.02)


def test_intermediate_tensors_stand_for_the_real_ones():
    model = quantize_encoder(WEIGHTS, X, LENGTHS)
    seen = {}
    encode(WEIGHTS, X, LENGTHS, seen.__setitem__)
    inputs = {"embedding": np.rint(X / model.scalar("embedding.step")).astype(np.int16)}
    graph = encoder_graph(model, LENGTHS)
    values = interpret(graph, inputs)
    for name in ("0.attention_sum", "0.sum", "1.sum"):
        found = values[name] * model.scalar(f"layers.{name}.step")
        assert np.abs(found - seen[name]).max() < 0.15 * np.abs(seen[name]).max(), name
        tensor = graph.tensors[name]
        assert tensor.step is None or tensor.step == model.scalar(f"layers.{name}.step")
    found = values["1.input.wide"] * model.scalar("layers.1.input.step")
    assert np.abs(found - seen["1.input"]).max() < 0.3


def test_each_head_has_a_scale_of_its_scores():
    first, second = WEIGHTS.layers
    growing = np.repeat(np.arange(1, 5, dtype=np.float32), 12)
    query = Linear(first.query.weights * growing, first.query.bias * growing)
    weights = replace(WEIGHTS, layers=(replace(first, query=query), second))
    model = quantize_encoder(weights, X, LENGTHS)
    seen = {}
    encode(weights, X, LENGTHS, seen.__setitem__)
    inputs = {"embedding": np.rint(X / model.scalar("embedding.step")).astype(np.int16)}
    values = interpret(encoder_graph(model, LENGTHS), inputs)
    scales = model.tensors["layers.0.scores.scale"]
    assert scales.shape == (1, 4)
    for head in range(4):
        columns = slice(12 * head, 12 * head + 12)
        q, k = (values[f"0.{name}"][:, columns].astype(np.float64) for name in ("query", "key"))
        real = seen["0.query"][:, columns] @ seen["0.key"][:, columns].T / np.sqrt(12)
        found = q @ k.T * scales[0, head] / 2**10
        assert np.abs(found - real).max() < 0.05 * np.abs(real).max(), head


def test_an_epsilon_is_that_of_the_embeddings_squared_steps():
    small = X * np.float32(1e-7)
    model = quantize_encoder(WEIGHTS, small, LENGTHS)
    step = model.scalar("embedding.step")
    assert model.scalar("norm.epsilon") == pytest.approx(48 * 1e-12 / step**2, rel=1e-6)
    assert model.scalar("layers.0.norm.epsilon") == 0
    (first, *_) = encoder_graph(model, [3]).ops
    assert isinstance(first, LayerNorm)
    assert first.epsilon == model.scalar("norm.epsilon")


def test_weights_beyond_all_measure_are_refused():
    layer = WEIGHTS.layers[0]
    huge = Linear(layer.key.weights * np.float32(1e31), layer.key.bias)
    bad = replace(WEIGHTS, layers=(replace(layer, key=huge), WEIGHTS.layers[1]))
    with pytest.raises(ValueError, match=r"0\.key\.product: its weights are not finite, or too"):
        quantize_encoder(bad, X, LENGTHS)


def test_quantization_is_a_pure_function():
    one, other = (quantize_encoder(WEIGHTS, X, LENGTHS) for _ in range(2))
    assert one.tensors.keys() == other.tensors.keys()
    assert all((one.tensors[name] == other.tensors[name]).all() for name in one.tensors)


def test_progress_counts_formats_and_products():
    steps = []
    quantize_encoder(WEIGHTS, X, LENGTHS, progress=lambda done, total: steps.append((done, total)))
    # The embeddings and the output; of each layer, eleven formats and six products.
    total = 2 + 2 * (11 + 6)
    assert steps == [(done, total) for done in range(1, total + 1)]


def test_tables_become_part_of_the_model():
    embeddings = Embeddings(np.ones((7, 48), np.float32), np.ones((5, 48), np.float32))
    model = quantize_encoder(WEIGHTS, X, LENGTHS, embeddings=embeddings)
    assert model.vocabulary == (7, 5)
    assert quantize_encoder(WEIGHTS, X, LENGTHS).vocabulary is None


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_weights_are_finite(value):
    layer = WEIGHTS.layers[1]
    weights = layer.down.weights.copy()
    weights[5, 6] = value
    bad = replace(layer, down=Linear(weights, layer.down.bias))
    message = f"layers.1.down.weights: {value} at row 5, column 6 is not finite"
    with pytest.raises(ValueError, match=message):
        quantize_encoder(replace(WEIGHTS, layers=(WEIGHTS.layers[0], bad)), X, LENGTHS)


def test_tables_and_calibration_are_finite():
    embeddings = Embeddings(np.full((7, 48), np.nan, np.float32), np.ones((5, 48), np.float32))
    with pytest.raises(ValueError, match=r"embedding\.words: nan at row 0, column 0"):
        quantize_encoder(WEIGHTS, X, LENGTHS, embeddings=embeddings)
    with pytest.raises(ValueError, match="calibration: inf at row 0, column 0"):
        quantize_encoder(WEIGHTS, np.full_like(X, np.inf), LENGTHS)


def test_constant_weights_are_no_problem():
    zero = Linear(np.zeros((48, 96), np.float32), np.zeros(96, np.float32))
    layers = tuple(replace(layer, up=zero) for layer in WEIGHTS.layers)
    model = quantize_encoder(replace(WEIGHTS, layers=layers), X, LENGTHS)
    assert (model.tensors["layers.0.up.weights"] == 0).all()
