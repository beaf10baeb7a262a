"""Small language models in integers, calibrated on random tokens."""

from functools import cache

import numpy as np

from celosia.sw.decoding.decoder import Decoder, quantize_decoder
from celosia.sw.models.decoder_graph import llama_float_graph
from celosia.sw.reference.language.shape import LlamaShape
from tests.support.language import random_weights

SHAPE = LlamaShape(vocabulary=40, layers=2, width=64, heads=4, key_heads=2, hidden=48, context=200)


@cache
def weights(shape: LlamaShape = SHAPE):
    """The float model."""
    return random_weights(shape)


@cache
def quantized(shape: LlamaShape = SHAPE) -> Decoder:
    """Its integers."""
    graph = llama_float_graph(weights(shape), shape.context)
    return quantize_decoder(graph, [tokens(24, seed, shape) for seed in range(8)])


def tokens(count, seed=0, shape=SHAPE):
    """So many random tokens."""
    return np.random.default_rng(seed).integers(0, shape.vocabulary, count).tolist()
