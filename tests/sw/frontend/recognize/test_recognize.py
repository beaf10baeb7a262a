"""Real forms of transformers become the same few operators, and compute the same."""

from collections import Counter

import numpy as np
import pytest

from celosia.lab.exports.catalog import EXPORTS
from celosia.lab.exports.writing.size import SMALL
from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.frontend.recognize.masks import mask_form
from celosia.sw.frontend.recognize.reader import Reader
from celosia.sw.frontend.recognize.recognize import PASSES, recognized_graph
from tests.support import quantized_exports as known

BATCH, TOKENS = 2, 12
LAYERS = SMALL.layers


def imported(name):
    model = known.imported(name, BATCH, TOKENS)
    return model.imported.graph, model.recognized


def operators(graph):
    return Counter(node.op for node in graph.nodes)


@pytest.mark.parametrize("name", EXPORTS)
def test_a_recognized_graph_computes_what_the_imported_one_does(name):
    graph, done = imported(name)
    inputs = EXPORTS[name].inputs(SMALL, 1, batch=BATCH, tokens=TOKENS)
    inputs = {key: value for key, value in inputs.items() if key in graph.inputs}
    expected = interpret(graph, inputs)
    for output, value in interpret(done.graph, inputs).items():
        np.testing.assert_allclose(value, expected[output], atol=1e-4)


@pytest.mark.parametrize("name", EXPORTS)
def test_every_attention_norm_and_activation_is_one_operator(name):
    _, done = imported(name)
    found = operators(done.graph)
    cross = 2 if name == "bart-decoder" else 1
    assert found["attention"] == cross * LAYERS
    each = 1 if name == "phi" else 2
    assert found["layernorm"] + found["rmsnorm"] >= each * LAYERS + 1
    assert found["gelu"] + found["silu"] + found["relu"] >= LAYERS
    assert not {"softmax", "sqrt", "erf", "tanh", "sigmoid", "exp"} & {*found}


def test_all_forms_of_bert_become_the_same_operators():
    expected = operators(imported("bert-13")[1].graph)
    for name in EXPORTS:
        if name.startswith("bert-") and "boolean" not in name and "fused" not in name:
            assert operators(imported(name)[1].graph) == expected, name


@pytest.mark.parametrize(
    ("name", "forms"),
    [
        # Whether keys are counted, a bias is added, and later keys are hidden; heads of a group.
        ("bert-13", {(True, False, False, 1)}),
        ("bert-sdpa-boolean", {(True, False, False, 1)}),
        ("bert-attention", {(True, False, False, 1)}),
        ("vit", {(False, False, False, 1)}),
        ("gpt2", {(True, False, True, 1)}),
        ("opt", {(True, False, True, 1)}),
        ("llama", {(True, False, True, 2)}),
        ("t5-encoder", {(True, True, False, 1)}),
        ("bart-decoder", {(False, False, True, 1), (True, False, False, 1)}),
    ],
)
def test_masks_are_what_they_are_meant_to_be(name, forms):
    reader = Reader(imported(name)[1].graph)
    found = set()
    for node in reader.graph.nodes:
        if node.op == "attention":
            form = mask_form(reader, node)
            heads, shared = (reader.type(operand).shape[1] for operand in node.inputs[:2])
            causal = node.attributes["causal"]
            found.add((form.keys is not None, form.bias is not None, causal, heads // shared))
    assert found == forms


def test_queries_and_keys_of_llama_are_rotated():
    assert operators(imported("llama")[1].graph)["rotate"] == 2 * LAYERS


def test_no_convolution_stays_one():
    """Not that of 32 groups, either: two products of 16 filters each."""
    _, done = imported("hybrid")
    assert operators(done.graph)["conv"] == 0
    assert not done.refusals


def test_what_is_absorbed_names_the_node_that_stands_for_it():
    _, done = imported("bert-13")
    scores = "/encoder/layer.0/attention/self/MatMul"
    context = "/encoder/layer.0/attention/self/MatMul_1"
    names = {node.origin for node in done.graph.nodes}
    assert any(context in name for name in names)
    (origin,) = [name for name in done.absorbed if name.startswith(scores) and "_1" not in name]
    assert any(context in name for name in done.origins(origin))
    assert all(absorbed != root for absorbed, root in done.absorbed.items())


def test_a_pass_that_raises_is_a_warning_where_there_are_no_notes(monkeypatch, caplog, mistakes):
    def raising(_reader):
        raise KeyError("planted")

    monkeypatch.setitem(PASSES, "views", raising)
    builder = GraphBuilder("test")
    x = builder.input("x", TensorType("float32", (3,)))
    graph = builder.finish({"y": builder.op("sigmoid", x)})
    assert str(recognized_graph(graph)) == str(graph)
    (record,) = [each for each in caplog.records if each.levelname == "WARNING"]
    assert record.getMessage().startswith("celosia: pass views is left out: KeyError: 'planted'")
    mistakes.clear()
