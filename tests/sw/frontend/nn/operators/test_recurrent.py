"""Recurrent layers step by step, by their formulas (ONNX's RNN, GRU, LSTM), and their rules."""

import numpy as np
import pytest

from celosia.sw.frontend.nn.operators.table import OPERATORS
from tests.support.float_operators import computed, refused, result_of, tensor

HIDDEN, GATES = 2, {"rnn": 1, "gru": 3, "lstm": 4}
NAMES = {"rnn": "tanh", "gru": "sigmoid tanh", "lstm": "sigmoid tanh tanh"}


def values(kind, steps=3):
    """Gates, weights, bias and first states of a layer of two units, for two samples."""
    random, width = np.random.default_rng(2), GATES[kind] * HIDDEN
    shapes = [(steps, 2, width), (HIDDEN, width), (width,), (2, HIDDEN)]
    return [random.standard_normal(shape) for shape in shapes + shapes[3:] * (kind == "lstm")]


def logistic(x):
    return 1 / (1 + np.exp(-x))


@pytest.mark.parametrize("name", ["tanh", "relu", "sigmoid"])
def test_a_plain_layer(name):
    x, w, b, h = values("rnn")
    found = computed("rnn", x, w, b, h, activations=name)
    for step in range(3):
        h = h @ w + x[step] + b
        h = {"tanh": np.tanh, "relu": lambda a: a * (a > 0), "sigmoid": logistic}[name](h)
        np.testing.assert_allclose(found[step], h)


@pytest.mark.parametrize("behind", [False, True])
def test_gated_units(behind):
    x, w, b, h = values("gru")
    more = {"activations": "sigmoid tanh", "reset_behind": behind}
    found = computed("gru", x, w, b, h, **more)
    for step in range(3):
        z = logistic(x[step, :, :2] + h @ w[:, :2] + b[:2])
        r = logistic(x[step, :, 2:4] + h @ w[:, 2:4] + b[2:4])
        last = r * (h @ w[:, 4:] + b[4:]) if behind else (r * h) @ w[:, 4:] + b[4:]
        h = (1 - z) * np.tanh(x[step, :, 4:] + last) + z * h
        np.testing.assert_allclose(found[step], h)


def test_long_short_term_memory_gives_outputs_and_cells():
    x, w, b, h, c = values("lstm")
    found = computed("lstm", x, w, b, h, c, activations="sigmoid tanh relu")
    for step in range(3):
        i, o, f, new = np.split(x[step] + h @ w + b, 4, axis=1)
        c = logistic(f) * c + logistic(i) * np.tanh(new)
        h = logistic(o) * np.maximum(c, 0)
        np.testing.assert_allclose(found[step], np.hstack([h, c]))


@pytest.mark.parametrize("kind", GATES)
def test_types_and_products(kind):
    width, states = GATES[kind] * HIDDEN, 1 + (kind == "lstm")
    types = [f"float32[7x3x{width}]", f"float32[2x{width}]", f"float32[{width}]"]
    types += ["float32[3x2]"] * states
    more = {"activations": NAMES[kind]} | ({"reset_behind": True} if kind == "gru" else {})
    assert result_of(kind, *types, **more) == f"float32[7x3x{2 * states}]"
    macs = OPERATORS[kind].macs
    assert macs is not None
    assert macs([tensor(each) for each in types], tensor("float32[]")) == 7 * 3 * width * 2
    for place, other, message in (
        (0, f"float32[21x{width}]", "are no steps and weights"),
        (1, f"float32[2x{width}x1]", "are no steps and weights"),
        (0, f"float32[7x3x{width + 1}]", "are no gates of"),
        (1, f"float32[2x{width + 2}]", "are no gates of"),
        (1, f"float32[3x{width}]", "are no gates of"),
        (2, f"float32[{width + 1}]", f"not of shape ({width},)"),
        (3, "float32[2x2]", "its state is float32[2x2]"),
        (2 + states, "float32[3x1]", "its state is float32[3x1]"),
        (2, f"float64[{width}]", "of different types"),
    ):
        refused(message, kind, *types[:place], other, *types[place + 1 :], **more)
    for names in ("", f"{NAMES[kind]} tanh", NAMES[kind].replace("tanh", "elu")):
        refused("are unknown", kind, *types, **{**more, "activations": names})
