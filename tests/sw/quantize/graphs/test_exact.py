"""Exact functions are those of real numbers, rounded once as the accelerator would round them."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from celosia.isa.numerics import NORMALIZED_FRACTION_BITS
from celosia.sw.ir.graph import DeferredSoftmax, DivideBySums, Mask, Normalized, Tensor
from celosia.sw.ir.graph_builder import GraphBuilder
from celosia.sw.quantize.graphs.exact import exact
from celosia.sw.quantize.graphs.quantized import run_model
from tests.support.quantized_exports import inputs, quantized

ROWS, KEYS, DEPTH = 6, 40, 8
SCALE = 0.2


def computed(graph, **inputs):
    """The values of a graph without curves, by exact functions."""
    model: Any = SimpleNamespace(segments=[None])
    return exact(model)(0, graph, inputs)


def attended(*, dithered, mask=None):
    """Numerators of a head, their sums and its context, and the scores as real numbers."""
    builder = GraphBuilder("head")
    q = builder.input(Tensor("q", "int8", ROWS, DEPTH))
    k, v = (builder.input(Tensor(name, "int8", KEYS, DEPTH)) for name in "kv")
    numerators = builder.tensor(Tensor("numerators", "uint8", ROWS, KEYS))
    sums = builder.tensor(Tensor("sums", "int32", ROWS, 1))
    context = builder.tensor(Tensor("context", "int8", ROWS, DEPTH))
    finish = DeferredSoftmax(SCALE, sums, mask or Mask(), dithered=dithered)
    builder.matmul("scores", numerators, q, k, finish, b_transposed=True)
    builder.matmul("context", context, numerators, v, DivideBySums(sums, 2.0**-16))
    random = np.random.default_rng(3)
    given = {
        name: random.integers(-30, 31, (rows, DEPTH)).astype(np.int8)
        for name, rows in (("q", ROWS), ("k", KEYS), ("v", KEYS))
    }
    found = computed(builder.finish("context", "sums"), **given)
    return found, given["q"].astype(int) @ given["k"].T.astype(int) * SCALE / 2**10


def fraction(column):
    """What is added before a numerator is cut: its column's four bits reversed, and one half."""
    return (int(f"{column % 16:04b}"[::-1], 2) + 0.5) / 16


@pytest.mark.parametrize("dithered", [False, True])
def test_numerators_are_cut_behind_what_their_column_adds(dithered):
    found, scores = attended(dithered=dithered)
    real = 255 * np.exp(scores - scores.max(axis=1, keepdims=True))
    added = [fraction(column) if dithered else 0.5 for column in range(KEYS)]
    expected = np.minimum(np.floor(real + added), 255)
    assert (found["numerators"] == expected).mean() > 0.99  # But for ties.
    np.testing.assert_array_equal(found["sums"][:, 0], found["numerators"].sum(axis=1))


def test_a_row_that_sees_no_key_has_nothing_over_one():
    found, _ = attended(dithered=False, mask=Mask(keys=0))
    assert not found["numerators"].any()
    assert (found["sums"] == 1).all()
    assert not found["context"].any()


@pytest.mark.parametrize("rms", [False, True])
@pytest.mark.parametrize("epsilon", [0, 4000])
def test_norms_are_those_of_real_numbers(rms, epsilon):
    builder = GraphBuilder("norm")
    x = builder.input(Tensor("x", "int16", ROWS, DEPTH))
    gamma = builder.constant("gamma", np.full((1, DEPTH), 1 << 4, np.int16))
    beta = builder.constant("beta", np.full((1, DEPTH), 3 << 15, np.int32))
    out = builder.tensor(Tensor("y", "int8", ROWS, DEPTH))
    builder.layernorm("norm", x, [Normalized(out, gamma, beta, 15)], epsilon=epsilon, rms=rms)
    rows = np.random.default_rng(1).integers(-40, 41, (ROWS, DEPTH)).astype(np.int16)
    found = computed(builder.finish("y"), x=rows)["y"]
    centered = rows - (0 if rms else rows.mean(axis=1, keepdims=True))
    lengths = np.sqrt(np.square(centered).sum(axis=1, keepdims=True) + epsilon)
    real = centered / lengths
    assert np.ptp(found) > 4
    # Gamma over 2^15, of what has so many fraction bits; beta is 3 of the results' units.
    slope = 2.0 ** (NORMALIZED_FRACTION_BITS + 4 - 15)
    np.testing.assert_allclose(found, 3 + slope * real, rtol=0, atol=0.5 + 1e-9)


def test_functions_of_some_nodes_are_the_accelerators():
    model, given = quantized("bert-17"), inputs("bert-17", 0)
    nodes = {node for segment in model.segments for node in segment.operators.values()}
    (plain,) = run_model(model, given).outputs.values()
    (best,) = run_model(model, given, exact(model)).outputs.values()
    (all_but,) = run_model(model, given, exact(model, but=nodes)).outputs.values()
    np.testing.assert_array_equal(all_but, plain)
    some = {node for node in nodes if "layer.0" in node}
    (mixed,) = run_model(model, given, exact(model, but=some)).outputs.values()
    assert 0 < len(some) < len(nodes)
    assert not np.array_equal(mixed, plain)
    assert not np.array_equal(mixed, best)
