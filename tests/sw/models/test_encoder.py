"""Parts of the graphs of encoders."""

import numpy as np
import pytest

from celosia.sw.ir.graph_interpret import interpret
from celosia.sw.ir.graph_verify import verify
from celosia.sw.models.cases import random_quantized_encoder
from celosia.sw.models.encoder import encoder_layer_graph, first_norm_graph
from celosia.sw.reference.encoder import EncoderShape

SHAPE = EncoderShape(layers=3, width=32, heads=2, hidden=64)
GRAPH = random_quantized_encoder(SHAPE, 1).graph([5, 1, 8])


def test_an_encoder_is_its_layers_in_turn():
    x = np.random.default_rng(0).integers(-20000, 20000, (14, 32)).astype(np.int16)
    whole = interpret(GRAPH, {"embedding.wide": x})
    values = interpret(first_norm_graph(GRAPH), {"embedding.wide": x})
    for index in range(2):
        graph = verify(encoder_layer_graph(GRAPH, index))
        before = f"{index - 1}.norm" if index else "norm"
        assert set(graph.inputs) == {f"{before}.small", f"{before}.wide"}
        assert graph.outputs == (f"{index}.norm.small", f"{index}.norm.wide")
        values = interpret(graph, {name: values[name] for name in graph.inputs})
        for name in graph.outputs:
            assert (values[name] == whole[name]).all()
            assert len(np.unique(values[name])) > 50


def test_a_layer_has_its_own_tensors_alone():
    graph = encoder_layer_graph(GRAPH, 1)
    assert {name.split(".")[0] for name in graph.constants} == {"1"}
    assert graph.tensors.keys() - graph.constants.keys() - set(graph.inputs) == {
        name for name in GRAPH.tensors.keys() - GRAPH.constants.keys() if name.startswith("1.")
    }


@pytest.mark.parametrize("index", [-1, 2])
def test_a_layer_alone_is_not_the_last(index):
    with pytest.raises(ValueError, match=rf"layer: {index} is not in 0..1"):
        encoder_layer_graph(GRAPH, index)
