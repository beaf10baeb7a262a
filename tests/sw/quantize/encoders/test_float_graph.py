"""The float graph of an encoder computes what the encoder does, all of it on the accelerator."""

import numpy as np
import pytest

from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.quantize.encoders.float_graph import encoder_float_graph, encoder_outline
from celosia.sw.quantize.units.find_units import find_units
from celosia.sw.quantize.units.segments import plan_segments
from celosia.sw.reference.encoder import EncoderShape, encode
from celosia.sw.reference.random_encoder import random_embeddings, random_encoder

SHAPES = [
    EncoderShape(layers=2, width=24, heads=3, hidden=40),
    EncoderShape(layers=1, width=16, heads=2, hidden=32),
    EncoderShape(layers=1, width=16, heads=1, hidden=8),
]


@pytest.mark.parametrize("lengths", [[3], [3, 1, 4]], ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_tensor_that_is_observed_is_one_of_the_graph(shape, lengths):
    weights, x = random_encoder(shape, 3), random_embeddings(shape, lengths, 4)
    real: dict[str, np.ndarray] = {}
    found: dict[str, np.ndarray] = {"embedding": x}
    encode(weights, x, lengths, real.__setitem__)
    interpret(encoder_float_graph(weights, lengths), {"embedding": x}, found.__setitem__)
    for name, value in real.items():
        tensor = found[name]
        if tensor.ndim == 4:  # The context of a single text stands head by head.
            tensor = tensor.transpose(0, 2, 1, 3).reshape(value.shape)
        assert tensor == pytest.approx(value, abs=1e-5), name


@pytest.mark.parametrize("lengths", [[2], [2, 2], [3, 1, 4]], ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_all_of_it_is_one_segment_and_the_host_does_nothing(shape, lengths):
    graph = encoder_float_graph(random_encoder(shape, 3), lengths)
    units = find_units(graph)
    segments = plan_segments(graph, units)
    assert units.refusals == {}
    assert segments.count == 1
    assert not any(segments.host)
    assert len(units.units) == 1 + 12 * shape.layers


def test_values_of_all_lengths_have_the_same_names():
    weights = random_encoder(SHAPES[0], 3)
    keys = [list(find_units(encoder_float_graph(weights, n)).values) for n in ([2], [3, 1], [4, 4])]
    assert keys[0] == keys[1] == keys[2]


def test_an_outline_has_the_norms_and_no_weights():
    weights = random_encoder(SHAPES[0], 3)
    norms = tuple((layer.attention_norm, layer.norm) for layer in weights.layers)
    found = encoder_outline(weights.shape, weights.norm, norms)
    assert (found.norm, found.layers[1].norm) == (weights.norm, weights.layers[1].norm)
    for name in ("query", "up", "down"):
        mine, real = getattr(found.layers[0], name), getattr(weights.layers[0], name)
        assert mine.weights.shape == real.weights.shape
        assert mine.bias.shape == real.bias.shape
        assert not mine.weights.any()
