"""Integers of a decoder, rehearsed."""

from dataclasses import replace

import numpy as np
import pytest

from celosia.sw.quantize.rehearsal import CHOICES, Choice, rehearse
from celosia.sw.reference.language.decoder import LlamaWeights
from celosia.sw.reference.language.perplexity import float_scorer
from tests.support.language import TINY, random_weights

TOKENS = np.random.default_rng(1).integers(0, TINY.vocabulary, 24).tolist()
CALIBRATION = [TOKENS, TOKENS[::-1]]


def error(weights: LlamaWeights, choice: Choice) -> float:
    """How far the logits are from float's, over their spread."""
    expected = float_scorer(weights)(TOKENS)
    found = rehearse(weights, CALIBRATION, choice)(TOKENS)
    return float(np.std(found - expected) / np.std(expected))


def test_each_choice_costs_something_and_none_ruins_the_model():
    found = [error(random_weights(), choice) for choice in CHOICES]
    assert all(0.001 < each < 0.1 for each in found)
    assert found[0] < found[2] < found[3]


def test_16_bits_are_hardly_felt():
    weights_alone, wide = (error(random_weights(), choice) for choice in CHOICES[:2])
    assert wide < weights_alone * 1.05


@pytest.mark.parametrize("channel", ["input", "hidden", "context"])
def test_smoothing_saves_a_model_with_a_large_channel(channel):
    """A channel that is large where it is made, and has small weights where it is used."""
    tensors = {name: tensor.copy() for name, tensor in random_weights().tensors.items()}
    maker, users = {
        "input": ("0.attention_norm", ("0.query", "0.key", "0.value")),
        "hidden": ("0.up", ("0.down",)),
        "context": ("0.value", ("0.output",)),
    }[channel]
    tensors[maker][..., 3] *= 40
    width, shared = TINY.head_width, TINY.heads // TINY.key_heads
    rows = [3 + head * width for head in range(shared)] if channel == "context" else [3]
    for user in users:
        tensors[user][rows] /= 40
    weights = LlamaWeights(TINY, tensors)
    rough = replace(CHOICES[-1], smoothing=None)
    assert error(weights, CHOICES[-1]) < error(weights, rough) * 0.8


def test_smoothing_alone_changes_nothing_but_rounding():
    smoothed = Choice(name="smoothed weights", smoothing=0.5)
    assert error(random_weights(), smoothed) < 0.03
