"""The language model with fewer channels and heads."""

from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pytest

from celosia.lab.prune.llama import Calibrated, calibrate, prune_llama, readers
from celosia.lab.prune.parts.share import parse_share
from celosia.lab.prune.pruned import Wanted
from celosia.lab.training.scorers import float_scorer
from celosia.sw.models.decoder_graph import llama_float_graph
from celosia.sw.reference.language.shape import LayerShape
from celosia.sw.reference.language.weights import LlamaWeights
from tests.support.language import TINY, random_weights

SHAPE = replace(TINY, layers=(LayerShape(heads=4, key_heads=2, head_width=4, hidden=32),) * 2)
WINDOWS = np.random.default_rng(0).integers(0, SHAPE.vocabulary, (3, 20)).tolist()
FFN = parse_share("--ffn", "50%", numbers=False)
HEADS = parse_share("--heads", "2", numbers=True)


def logits(weights):
    return float_scorer(llama_float_graph(weights, 20))(WINDOWS[0])


def with_columns(weights, names, columns, factor):
    """The weights of layer 1 with some columns of matrices multiplied."""
    tensors = {name: value.copy() for name, value in weights.tensors.items()}
    for name in names:
        tensors[f"1.{name}"][:, columns] *= factor
    return LlamaWeights(weights.shape, tensors)


def pruned(weights, **wanted):
    found = Calibrated(calibrate(weights, WINDOWS, readers(weights.shape)))
    return prune_llama(weights, found, Wanted(**{"criterion": "activation", **wanted}))


def test_each_layer_has_less_of_what_is_named():
    found = pruned(random_weights(SHAPE), ffn=FFN, heads=HEADS, dim=16)
    assert found.shape.layers == (LayerShape(heads=2, key_heads=1, head_width=4, hidden=16),) * 2
    assert logits(found).shape == (20, SHAPE.vocabulary)


@pytest.mark.parametrize("criterion", ["magnitude", "activation"])
@pytest.mark.parametrize("repair", [False, True])
def test_what_does_nothing_is_removed_and_nothing_changes(criterion, repair):
    """Layer 1 has channels and a group of heads of 0; layer 0 loses some that the other hides."""
    weights = random_weights(replace(SHAPE, layers=SHAPE.layers[:1]))
    tensors = {name: value.copy() for name, value in weights.tensors.items()}
    tensors["0.up"][:, ::2] = 0
    tensors["0.value"][:, :4] = 0
    weights = LlamaWeights(weights.shape, tensors)
    found = pruned(weights, criterion=criterion, ffn=FFN, heads=HEADS, dim=16, repair=repair)
    np.testing.assert_array_equal(found["0.up"], weights["0.up"][:, 1::2])
    np.testing.assert_array_equal(found["0.key"], weights["0.key"][:, 4:])
    np.testing.assert_array_equal(found["0.query"], weights["0.query"][:, 8:])
    np.testing.assert_allclose(logits(found), logits(weights), atol=2e-4)


def test_repair_comes_nearer():
    weights = random_weights(SHAPE)
    exact = logits(weights)
    far, near = (
        np.square(logits(pruned(weights, ffn=FFN, repair=repair)) - exact).mean()
        for repair in (False, True)
    )
    assert near < far


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("jax"), reason="not installed (extra `training`)")
def test_changes_are_those_of_the_loss():
    """Without a channel the loss changes as its gradient says, for a channel that is small."""
    gradients = import_module("celosia.lab.prune.gradients")
    network = import_module("celosia.lab.training.network")
    weights = random_weights(SHAPE)
    tensors = {name: value.copy() for name, value in weights.tensors.items()}
    tensors["1.down"][7] *= 0.02
    weights = LlamaWeights(SHAPE, tensors)
    found = gradients.changes(weights, WINDOWS, readers(SHAPE))["1.down"][:, 7]
    without = {**tensors, "1.down": tensors["1.down"].copy()}
    without["1.down"][7] = 0
    for change, window in zip(found, WINDOWS, strict=True):
        tokens, key = np.array([window], np.int32), import_module("jax").random.key(0)
        before, after = (
            float(network.loss(each, SHAPE, tokens, 0.0, key)) for each in (tensors, without)
        )
        np.testing.assert_allclose(before - after, change, rtol=0.2, atol=2e-5)
