"""Small language models in integers, calibrated on random tokens."""

from dataclasses import replace
from functools import cache

import numpy as np

from celosia.sw.decoding.decoder import Decoder, quantize_decoder
from celosia.sw.models.decoder_graph import llama_float_graph
from celosia.sw.quantize.weight_types import INT8_WEIGHTS, WeightTypes
from celosia.sw.reference.language.shape import LayerShape, LlamaShape
from tests.support.language import random_weights

SHAPE = LlamaShape(
    vocabulary=40,
    width=64,
    context=200,
    layers=(LayerShape(heads=4, key_heads=2, head_width=16, hidden=48),) * 2,
)

UNLIKE = replace(
    SHAPE,
    context=32,
    layers=(
        LayerShape(heads=3, key_heads=1, head_width=16, hidden=80),
        LayerShape(heads=2, key_heads=2, head_width=32, hidden=32),
    ),
)
"""Its layers differ in heads, in their width and in hidden width."""


@cache
def weights(shape: LlamaShape = SHAPE):
    """The float model."""
    return random_weights(shape)


float_weights = weights
"""The same, where its name is taken."""


@cache
def quantized(shape: LlamaShape = SHAPE, *, weights: WeightTypes = INT8_WEIGHTS) -> Decoder:
    """Its integers."""
    graph = llama_float_graph(float_weights(shape), shape.context)
    windows = [tokens(24, seed, shape) for seed in range(8)]
    return quantize_decoder(graph, windows, weights=weights)


def tokens(count, seed=0, shape=SHAPE):
    """So many random tokens."""
    return np.random.default_rng(seed).integers(0, shape.vocabulary, count).tolist()
