"""The float graph of an encoder computes what the encoder does, all of it on the accelerator."""

import numpy as np
import pytest

from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.quantize.encoders.float_graph import by_heads, encoder_float_graph
from celosia.sw.quantize.graphs.find_units import find_units
from celosia.sw.quantize.graphs.segments import plan_segments
from celosia.sw.reference.encoder import EncoderShape, encode
from celosia.sw.reference.random_encoder import random_embeddings, random_encoder

SHAPES = [
    EncoderShape(layers=2, width=24, heads=3, hidden=40),
    EncoderShape(layers=1, width=16, heads=2, hidden=32),
    EncoderShape(layers=1, width=16, heads=1, hidden=8),
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_tensor_that_is_observed_is_one_of_the_graph(shape):
    weights, x = random_encoder(shape, 3), random_embeddings(shape, [2], 4)
    real: dict[str, np.ndarray] = {}
    found: dict[str, np.ndarray] = {"embedding": x}
    encode(weights, x, [2], real.__setitem__)
    interpret(encoder_float_graph(weights), {"embedding": x}, found.__setitem__)
    for name, value in real.items():
        wanted = by_heads(value, shape.heads) if name.endswith(".context") else value
        assert found[name].shape == wanted.shape
        assert found[name] == pytest.approx(wanted, abs=1e-5), name


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_all_of_it_is_one_segment_and_the_host_does_nothing(shape):
    graph = encoder_float_graph(random_encoder(shape, 3))
    units = find_units(graph)
    segments = plan_segments(graph, units)
    assert units.refusals == {}
    assert segments.count == 1
    assert not any(segments.host)
    assert len(units.units) == 1 + 12 * shape.layers


def test_heads_stand_behind_each_other():
    rows = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert by_heads(rows, 2).tolist() == [
        [[[0, 1], [4, 5], [8, 9]], [[2, 3], [6, 7], [10, 11]]],
    ]
