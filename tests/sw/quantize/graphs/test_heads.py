"""Queries and keys are smoothed against each other, and values with the weights behind them."""

from dataclasses import replace

import numpy as np
import pytest

from celosia.lab.exports.writing.size import SMALL
from celosia.sw.quantize.graphs.heads import score_factors
from tests.support.quantized_exports import inputs, quantized, recognized
from tests.support.quantized_graph import quantize_graph

RANDOM = np.random.default_rng(0)


def normal(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def scores_lost(queries, keys, factors):
    def rounded(x):
        step = np.abs(x).max() / 127
        return np.rint(x / step) * step

    found = rounded(queries / factors) @ rounded(keys * factors).T
    return np.square(found - queries @ keys.T).sum()


def test_a_large_column_of_queries_moves_into_keys():
    queries, keys = normal(300, 16), normal(300, 16)
    queries[:, 3] *= 20
    factors = score_factors([queries], [keys], tied=False)
    assert factors[3] > 2 * np.delete(factors, 3).max()
    ones = np.ones(16, np.float32)
    assert scores_lost(queries, keys, factors) < 0.5 * scores_lost(queries, keys, ones)


def test_both_halves_of_columns_that_rotate_have_the_same_factors():
    queries, keys = [normal(200, 16), normal(200, 16)], normal(200, 16)
    keys[:, 2] *= 20
    factors = score_factors(queries, [keys], tied=True)
    assert factors[:8].tolist() == factors[8:].tolist()
    assert factors[2] == factors.min() < 1


@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_the_scores_of_all_heads_have_one_scale(name):
    """Steps of queries and keys are inverse to each other, and heads are alike."""
    model = quantized(name)
    steps = [found.steps for form, found in model.formats.items() if form.role == "heads"]
    width = SMALL.width // SMALL.heads
    if name == "gpt2":
        query, key = np.split(steps[0], 3)[:2]
    else:
        keys, query = [each for each in steps if each.size in {64, 32}][:2]
        shared = query.size // keys.size
        key = np.repeat(keys.reshape(-1, width), shared, axis=0).ravel()
    assert query * key == pytest.approx(np.full(query.size, query[0] * key[0]))
    assert np.ptp(query[:width]) > 0
    assert np.ptp(query[::width]) > 0


def test_a_head_whose_scores_are_nothing_leaves_the_others_alone():
    graph, width = recognized("gpt2"), SMALL.width // SMALL.heads
    constants = dict(graph.constants)
    for name, value in graph.constants.items():
        if 3 * SMALL.width in value.shape:
            constants[name] = value.copy()
            constants[name][..., :width] = 0
    samples = [inputs("gpt2", seed) for seed in range(1, 9)]
    without = quantize_graph(replace(graph, constants=constants), samples)
    usual, found = (
        next(each.steps for form, each in model.formats.items() if form.role == "heads")
        for model in (quantized("gpt2"), without)
    )
    usual, found = (np.prod(np.split(each, 3)[:2], axis=0)[::width] for each in (usual, found))
    assert found[1:] == pytest.approx(np.full(SMALL.heads - 1, found[1]))
    assert found[1] <= usual[1] < found[0]


def test_steps_of_values_are_as_large_as_the_values():
    """Values 64 times as large have far larger steps; those of queries and keys hardly change.

    Layers behind them differ, and so not by 64 exactly.
    """
    graph, width = recognized("gpt2"), SMALL.width
    constants = dict(graph.constants)
    for name, value in graph.constants.items():
        if 3 * width in value.shape:
            constants[name] = value.copy()
            constants[name][..., 2 * width :] *= 64
    samples = [inputs("gpt2", seed) for seed in range(1, 9)]
    models = [
        quantize_graph(replace(graph, constants=c), samples) for c in (graph.constants, constants)
    ]
    small, large = (
        np.split(next(x.steps for form, x in model.formats.items() if form.role == "heads"), 3)
        for model in models
    )
    assert (large[2] > 20 * small[2]).all()
    assert (large[2] < 200 * small[2]).all()
    assert (large[:2] < 4 * np.array(small[:2])).all()
