"""Recurrent layers, compared with ONNX Runtime."""

import numpy as np
import pytest
from onnx import numpy_helper

from celosia.sw.frontend.nn.interpret import interpret
from tests.sw.frontend.importer.microsoft.nodes import by_runtime, compare, model_of
from tests.sw.frontend.importer.models import floats, imported

STEPS, BATCH, WIDTH, HIDDEN = 4, 2, 3, 5
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def operands(op, ways, *, bias=True, states=True):
    width, shape = GATES[op] * HIDDEN, (ways, BATCH, HIDDEN)
    x, w = floats(STEPS, BATCH, WIDTH), floats(ways, width, WIDTH, seed=1)
    found = [x, w, floats(ways, width, HIDDEN, seed=2) / 2]
    found += [floats(ways, 2 * width, seed=3) if bias else None, None]
    first = [floats(*shape, seed=4), floats(*shape, seed=5)][: 2 if op == "LSTM" else 1]
    return found + (first if states else [])


def results(op):
    return ("y", "h", "c") if op == "LSTM" else ("y", "h")


@pytest.mark.parametrize("op", GATES)
@pytest.mark.parametrize("way", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("given", [False, True])
def test_layers_of_every_direction(op, way, given):
    ways = 2 if way == "bidirectional" else 1
    inputs = operands(op, ways, bias=given, states=given)
    graph = compare(op, inputs, results(op), domain="", hidden_size=HIDDEN, direction=way)
    assert [node.op for node in graph.nodes].count(op.lower()) == ways
    macs = {node.op: graph.macs()[node.name] for node in graph.nodes if node.name in graph.macs()}
    whole = STEPS * BATCH * GATES[op] * HIDDEN
    assert macs == {"matmul": whole * WIDTH, op.lower(): whole * HIDDEN}


@pytest.mark.parametrize("behind", [0, 1])
def test_a_reset_before_and_behind_the_product(behind):
    inputs = operands("GRU", 1)
    compare("GRU", inputs, ("y", "h"), "", hidden_size=HIDDEN, linear_before_reset=behind)


def test_other_activations():
    inputs = operands("LSTM", 2)
    names = ["Tanh", "Relu", "Sigmoid", "Sigmoid", "Sigmoid", "Tanh"]
    attributes = {"activations": names, "direction": "bidirectional", "hidden_size": HIDDEN}
    compare("LSTM", inputs, ("y", "h", "c"), "", **attributes)


def test_lengths_of_all_steps():
    inputs = operands("GRU", 1)
    inputs[4] = np.full(BATCH, STEPS, np.int32)
    proto, values = model_of("GRU", inputs, ("y",), "", hidden_size=HIDDEN)
    assert "several lengths" in next(iter(imported(proto).refused.values()))
    kept = proto.graph.input[4]
    proto.graph.initializer.add(name="i4", data_type=6, dims=[BATCH], int32_data=values["i4"])
    proto.graph.input.remove(kept)
    assert not imported(proto).refused


@pytest.mark.parametrize("lengths", [(STEPS - 1, STEPS), (STEPS, 0), (STEPS - 1, STEPS - 1)])
def test_shorter_texts_are_refused(lengths):
    inputs = operands("LSTM", 1)
    inputs[4] = np.array(lengths, np.int32)
    proto, _ = model_of("LSTM", inputs, ("y",), "", hidden_size=HIDDEN)
    kept = proto.graph.input[4]
    proto.graph.initializer.append(numpy_helper.from_array(inputs[4], kept.name))
    proto.graph.input.remove(kept)
    (reason,) = imported(proto).refused.values()
    assert "texts of several lengths are not supported" in reason


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"clip": 1.0}, "its attribute clip is not supported"),
        ({"activations": ["Sigmoid", "Elu", "Tanh"]}, "its activation Elu is not supported"),
        ({"input_forget": 1}, "gates that share a product"),
        ({"direction": "up"}, "its direction 'up' is unknown"),
    ],
)
def test_rarer_forms_are_refused(attributes, message):
    proto, _ = model_of("LSTM", operands("LSTM", 1), ("y",), "", hidden_size=HIDDEN, **attributes)
    (reason,) = imported(proto).refused.values()
    assert message in reason


def test_peepholes_are_refused():
    inputs = [*operands("LSTM", 1), floats(1, 3 * HIDDEN)]
    proto, _ = model_of("LSTM", inputs, ("y",), "", hidden_size=HIDDEN)
    assert "peepholes" in next(iter(imported(proto).refused.values()))


@pytest.mark.parametrize("way", ["forward", "bidirectional"])
@pytest.mark.parametrize("op", GATES)
def test_texts_outermost_are_the_same_texts(op, way):
    """ONNX Runtime knows steps outermost only: its results are wanted, with axes exchanged."""
    names, attributes = results(op), {"hidden_size": HIDDEN, "direction": way}
    inputs = operands(op, 2 if way == "bidirectional" else 1)
    wanted = by_runtime(*model_of(op, inputs, names, "", **attributes))
    for place in (0, *range(5, len(inputs))):  # The texts, and their first states.
        inputs[place] = inputs[place].swapaxes(0, 1)
    proto, values = model_of(op, inputs, names, "", layout=1, **attributes)
    found = imported(proto)
    assert not found.lost, found.refused
    outputs = interpret(found.graph, values)
    for name, each in zip(names, wanted, strict=True):
        turned = each.transpose(2, 0, 1, 3) if name == "y" else each.transpose(1, 0, 2)
        np.testing.assert_allclose(outputs[name], turned, rtol=1e-4, atol=2e-6, err_msg=name)
