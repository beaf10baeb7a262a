"""Graphs of encoders."""

import numpy as np
import pytest

from celosia.sw.ir.graph_interpret import interpret
from celosia.sw.models.cases import random_integer_encoder
from celosia.sw.models.encoder import encoder_graph, encoder_layer_graph, first_norm_graph
from celosia.sw.reference.encoder import EncoderShape

SHAPE = EncoderShape(layers=3, width=32, heads=2, hidden=64)
MODEL = random_integer_encoder(SHAPE, 1)
LENGTHS = [5, 1, 8]


def embeddings(rows):
    return np.random.default_rng(rows).integers(-20000, 20000, (rows, 32)).astype(np.int16)


def test_an_encoder_is_its_layers_in_turn():
    x = {"embedding": embeddings(14)}
    whole = interpret(encoder_graph(MODEL, LENGTHS), x)
    values = interpret(first_norm_graph(MODEL, LENGTHS), x)
    for index in range(2):
        graph = encoder_layer_graph(MODEL, LENGTHS, index)
        assert graph.outputs == (f"{index + 1}.input.small", f"{index + 1}.input.wide")
        values = interpret(graph, {name: values[name] for name in graph.inputs})
        for name in graph.outputs:
            assert (values[name] == whole[name]).all()
            assert len(np.unique(values[name])) > 50


def test_a_text_does_not_depend_on_the_others():
    x = embeddings(14)
    together = interpret(encoder_graph(MODEL, LENGTHS), {"embedding": x})["output"]
    for start, length in zip((0, 5, 6), LENGTHS, strict=True):
        part = x[start : start + length]
        alone = interpret(encoder_graph(MODEL, [length]), {"embedding": part})["output"]
        assert (together[start : start + length] == alone).all()


def test_names_start_with_the_layer_and_products_are_all_there():
    graph = encoder_graph(MODEL, LENGTHS)
    names = [op.name for op in graph.ops]
    assert names[:4] == ["norm", "0.query", "0.key", "0.value"]
    assert names[4:6] == ["0.scores.text0.head0", "0.context.text0.head0"]
    assert names[16:21] == ["0.output", "0.attention_norm", "0.up", "0.down", "0.norm"]
    dense = 14 * (4 * 32 * 32 + 2 * 32 * 64)
    attention = 2 * 32 * sum(length**2 for length in LENGTHS)
    assert graph.macs == 3 * (dense + attention)


@pytest.mark.parametrize("lengths", [[], [3, 0]])
def test_texts_have_tokens(lengths):
    with pytest.raises(ValueError, match="are not those of one or more texts"):
        encoder_graph(MODEL, lengths)


@pytest.mark.parametrize("index", [-1, 2])
def test_a_layer_alone_is_not_the_last(index):
    with pytest.raises(ValueError, match=rf"layer: {index} is not in 0..1"):
        encoder_layer_graph(MODEL, LENGTHS, index)
