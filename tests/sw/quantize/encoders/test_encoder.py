"""Quantization of encoders with random weights."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from celosia.sw.ir.graph import DeferredSoftmax, DivideBySums, LayerNorm, MatMul
from celosia.sw.ir.graph_interpret import interpret
from celosia.sw.models.cases import random_quantized_encoder
from celosia.sw.quantize.encoders.encoder import Tables, quantize_encoder
from celosia.sw.quantize.units.values import Form
from celosia.sw.reference.embedding import Embeddings
from celosia.sw.reference.encoder import EncoderShape, Linear, encode
from celosia.sw.reference.random_encoder import random_embeddings, random_encoder

SHAPE = EncoderShape(layers=2, width=48, heads=4, hidden=96)
LENGTHS = [30, 50]
WEIGHTS = random_encoder(SHAPE, 0)
X = random_embeddings(SHAPE, LENGTHS, 1)


@cache
def model():
    return random_quantized_encoder(SHAPE, 0)


def embedding(model, x):
    return {"embedding.wide": np.rint(x / model.input_step).astype(np.int16)}


def test_the_integer_encoder_is_near_the_real_one():
    lengths = [17, 5]
    x = random_embeddings(SHAPE, lengths, 9)
    values = interpret(model().graph(lengths), embedding(model(), x))
    found = values["1.norm.wide"] * model().output_step
    real = encode(WEIGHTS, x, lengths)
    norms = np.linalg.norm(found, axis=1) * np.linalg.norm(real, axis=1)
    assert (np.einsum("ij,ij->i", found, real) / norms).min() > 0.99
    assert np.linalg.norm(found) == pytest.approx(np.linalg.norm(real), rel=0.02)


def test_intermediate_tensors_stand_for_the_real_ones():
    model = quantize_encoder(WEIGHTS, X, LENGTHS)
    seen = {}
    encode(WEIGHTS, X, LENGTHS, seen.__setitem__)
    graph = model.graph(LENGTHS)
    values = interpret(graph, embedding(model, X))
    sums = {"0.output": "0.attention_sum", "0.down": "0.sum", "1.down": "1.sum"}
    for name, real in sums.items():
        step = model.formats.forms[Form(real, "wide")].step
        found = values[f"{name}.wide"] * step
        assert np.abs(found - seen[real]).max() < 0.15 * np.abs(seen[real]).max(), name
        assert graph.tensors[f"{name}.wide"].step == step
    found = values["0.norm.wide"] * model.formats.forms[Form("1.input", "wide")].step
    assert np.abs(found - seen["1.input"]).max() < 0.3


def test_each_head_has_a_scale_of_its_scores():
    first, second = WEIGHTS.layers
    growing = np.repeat(np.arange(1, 5, dtype=np.float32), 12)
    query = Linear(first.query.weights * growing, first.query.bias * growing)
    weights = replace(WEIGHTS, layers=(replace(first, query=query), second))
    model = quantize_encoder(weights, X, LENGTHS)
    seen = {}
    encode(weights, X, LENGTHS, seen.__setitem__)
    graph = model.graph(LENGTHS)
    values = interpret(graph, embedding(model, X))
    scales = {
        op.name: op.finish.scale
        for op in graph.ops
        if isinstance(op, MatMul) and isinstance(op.finish, DeferredSoftmax)
    }
    for head in range(4):
        columns = slice(12 * head, 12 * head + 12)
        q, k = (
            values[f"0.{name}.heads"][:, columns].astype(np.float64) for name in ("query", "key")
        )
        real = seen["0.query"][:, columns] @ seen["0.key"][:, columns].T / np.sqrt(12)
        found = q @ k.T * scales[f"0.scores.text0.head{head}"] / 2**10
        assert np.abs(found - real).max() < 0.05 * np.abs(real).max(), head


def test_an_epsilon_is_that_of_the_embeddings_squared_steps():
    small = X * np.float32(1e-7)
    model = quantize_encoder(WEIGHTS, small, LENGTHS)
    first, *others = [op for op in model.graph([3]).ops if isinstance(op, LayerNorm)]
    assert first.epsilon == pytest.approx(48 * 1e-12 / model.input_step**2, rel=1e-6)
    assert not any(op.epsilon for op in others)


def test_weights_beyond_all_measure_are_refused():
    layer = WEIGHTS.layers[0]
    huge = Linear(layer.key.weights * np.float32(1e31), layer.key.bias)
    bad = replace(WEIGHTS, layers=(replace(layer, key=huge), WEIGHTS.layers[1]))
    with pytest.raises(ValueError, match=r"0\.key\.product: its weights are not finite, or too"):
        quantize_encoder(bad, X, LENGTHS)


def test_quantization_is_a_pure_function():
    one, other = (quantize_encoder(WEIGHTS, X, LENGTHS) for _ in range(2))
    graph, again = one.graph([3]), other.graph([3])
    assert str(graph) == str(again)
    assert all((value == again.constants[name]).all() for name, value in graph.constants.items())


def test_progress_counts_formats_and_products():
    steps = []
    quantize_encoder(WEIGHTS, X, LENGTHS, progress=lambda done, total: steps.append((done, total)))
    # The embeddings and the output; of each layer, eleven formats and six products.
    total = 2 + 2 * (11 + 6)
    assert steps == [(done, total) for done in range(1, total + 1)]


def test_tables_become_part_of_the_model():
    random = np.random.default_rng(0)
    tables = (random.standard_normal((rows, 48), np.float32) for rows in (10, 3))
    embeddings = Embeddings(*tables)
    model = quantize_encoder(WEIGHTS, X, LENGTHS, embeddings=embeddings)
    texts = [[9, 0, 9], [4]]
    found = model.embed(texts)
    assert found.dtype == np.int16
    assert np.abs(found * model.input_step - embeddings.sums(texts)).max() < 1.01 * model.input_step
    with pytest.raises(ValueError, match="the model has no embeddings"):
        quantize_encoder(WEIGHTS, X, LENGTHS).embed(texts)


def test_embeddings_are_summed_without_saturation():
    words, positions = np.zeros((1, 48), np.float32), np.zeros((1, 48), np.float32)
    words[0, 0], positions[0, 0] = 1, 0.37
    model = quantize_encoder(WEIGHTS, X, LENGTHS, embeddings=Embeddings(words, positions))
    assert 32764 <= model.embed([[0]])[0, 0] <= 32767


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ([], "no text"),
        ([[1], []], "text 1: 0 tokens are not in 1..3"),
        ([[1, 2, 3, 4]], "text 0: 4 tokens are not in 1..3"),
        ([[10]], "text 0: token 10 is not in 0..9"),
        ([[-1]], "text 0: token -1 is not in 0..9"),
    ],
)
def test_texts_fit_the_tables(texts, message):
    tables = Tables(np.zeros((10, 4), np.int16), np.zeros((3, 4), np.int16))
    with pytest.raises(ValueError, match=message):
        tables.sums(texts)


def test_a_text_does_not_depend_on_the_others():
    lengths = [5, 1, 8]
    x = np.random.default_rng(0).integers(-20000, 20000, (14, 48)).astype(np.int16)
    together = interpret(model().graph(lengths), {"embedding.wide": x})["1.norm.wide"]
    for start, length in zip((0, 5, 6), lengths, strict=True):
        part = {"embedding.wide": x[start : start + length]}
        alone = interpret(model().graph([length]), part)["1.norm.wide"]
        assert (together[start : start + length] == alone).all()


@pytest.mark.parametrize("length", [8, 16, 40])
def test_graphs_of_all_lengths_have_the_same_numbers(length):
    wanted, found = model().graph([3, 2]), model().graph([length])
    assert found.constants.keys() == wanted.constants.keys()
    for name, value in wanted.constants.items():
        assert (found.constants[name] == value).all(), name
    for name, integer in model().formats.integers.items():
        constants = found.constants[f"{name}.weights"], found.constants[f"{name}.bias"]
        assert (constants[0] == integer.weights).all()
        assert (constants[1] == integer.bias).all()


def test_names_start_with_the_layer_and_products_are_all_there():
    graph = model().graph([5, 1, 8])
    names = [op.name for op in graph.ops]
    assert names[:4] == ["norm", "0.query", "0.key", "0.value"]
    assert names[4:6] == ["0.scores.text0.head0", "0.context.text0.head0"]
    assert names[28:33] == ["0.output", "0.attention_norm", "0.up", "0.down", "0.norm"]
    dense = 14 * (4 * 48 * 48 + 2 * 48 * 96)
    attention = 2 * 48 * sum(length**2 for length in (5, 1, 8))
    assert graph.macs == 2 * (dense + attention)


@pytest.mark.parametrize("lengths", [[], [3, 0]])
def test_texts_have_tokens(lengths):
    with pytest.raises(ValueError, match="are not those of one or more texts"):
        model().graph(lengths)


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
    assert (model.formats.integers["0.up"].weights == 0).all()


def test_all_heads_of_a_layer_weigh_values_in_one_scale():
    shape = EncoderShape(layers=1, width=192, heads=6, hidden=32)
    found = random_quantized_encoder(shape, 0)

    def scales(formats):
        ops = replace(found, formats=formats).graph([2, 3]).ops
        return {
            op.finish.scale
            for op in ops
            if isinstance(op, MatMul) and isinstance(op.finish, DivideBySums)
        }

    (scale,) = scales(found.formats)
    apart = scales(replace(found.formats, alike_heads=False))
    assert len(apart) > 1
    assert list(apart) == pytest.approx([scale] * len(apart), rel=1e-6)
