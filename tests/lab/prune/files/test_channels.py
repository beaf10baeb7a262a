"""Hidden channels that are found in ONNX models, and what is none."""

import numpy as np
import pytest
from onnx import checker, numpy_helper, parser
from onnx.reference import ReferenceEvaluator

from celosia.lab.prune.files.channels import find_hidden

HEADER = '<ir_version: 9, opset_import: ["" : 20]>'


def model(body, constants, outputs="y"):
    """A model of `x`, of 3 to 5 columns, with constants of these shapes that are random numbers."""
    random = np.random.default_rng(7)
    listed = ", ".join(f"float[?,5] {name}" for name in outputs.split())
    proto = parser.parse_model(f"{HEADER} g (float[2,3] x) => ({listed}) {{ {body} }}")
    for name, value in constants.items():
        array = random.normal(size=value).astype(np.float32) if isinstance(value, tuple) else value
        proto.graph.initializer.append(numpy_helper.from_array(array, name))
    checker.check_model(proto)
    return proto


def run(proto, x):
    """The one output of a model."""
    results = ReferenceEvaluator(proto).run(None, {"x": x})
    assert isinstance(results, list)
    return np.asarray(results[0])


PLAIN = "h = MatMul(x, a) b = Add(h, v) r = Relu(b) y = MatMul(r, c)"
SIZES = {"a": (3, 8), "v": (8,), "c": (8, 5)}
FOUND = {
    "plain": (PLAIN, SIZES),
    "products with biases, transposed": (
        "h = Gemm <transB = 1> (x, a, v) r = Tanh(h) y = Gemm <transB = 1> (r, c, w)",
        {"a": (8, 3), "v": (1, 8), "c": (5, 8), "w": (5,)},
    ),
    "a matrix that the file turns": (
        "t = Transpose <perm = [1, 0]> (a) h = MatMul(x, t) r = Relu(h) y = MatMul(r, c)",
        {"a": (8, 3), "c": (8, 5)},
    ),
    "a gate": (
        "h = MatMul(x, a) g = MatMul(x, d) s = Sigmoid(g) t = Mul(g, s) r = Mul(t, h) "
        "z = MatMul(r, c) y = Add(w, z)",
        {"a": (3, 8), "d": (3, 8), "c": (8, 5), "w": (5,)},
    ),
    "gelu as it is exported": (
        "h = MatMul(x, a) b = Add(v, h) d = Div(b, n) e = Erf(d) f = Add(e, o) m = Mul(b, f) "
        "r = Mul(m, o) y = MatMul(r, c)",
        {**SIZES, "n": np.float32(1.5), "o": np.array([1], np.float32)},
    ),
    "shapes": (
        "h = MatMul(x, a) i = Reshape(h, s) r = Relu(i) k = Shape(r) "
        "l = Gather(k, n) j = Concat <axis = 0> (m, l) z = Reshape(r, j) y = MatMul(z, c)",
        {
            "a": (3, 8),
            "c": (8, 5),
            "s": np.array([1, 2, 8], np.int64),
            "m": np.array([2], np.int64),
            "n": np.array([-1], np.int64),
        },
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_channels_that_nobody_reads_can_go(name):
    """With rows of zeros in the matrix that reads them, they are all that is not kept."""
    body, constants = FOUND[name]
    proto = model(body, constants)
    ((hidden,), _) = find_hidden(proto.graph)
    kept = np.array([0, 2, 3, 7])
    read = hidden.reader.values.copy()
    np.moveaxis(read, hidden.reader.axis, 0)[[1, 4, 5, 6]] = 0
    hidden.reader.set(read)
    x = np.random.default_rng(1).normal(size=(2, 3)).astype(np.float32)
    expected = run(proto, x)
    hidden.keep(kept)
    found = run(proto, x)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    assert all(
        dims != 8 for each in proto.graph.initializer for dims in numpy_helper.to_array(each).shape
    )


def test_what_is_added_behind_the_reader_is_its_bias():
    for name, expected in (("a gate", "w"), ("products with biases, transposed", "w")):
        ((hidden,), _) = find_hidden(model(*FOUND[name]).graph)
        assert hidden.bias is not None
        assert hidden.bias.tensor.name == expected
    ((hidden,), _) = find_hidden(model(*FOUND["plain"]).graph)
    assert hidden.bias is None
    scaled = FOUND["products with biases, transposed"][0].replace("1> (r", "1, beta = 2.0> (r")
    ((hidden,), _) = find_hidden(model(scaled, FOUND["products with biases, transposed"][1]).graph)
    assert hidden.bias is None


SOFTMAX = PLAIN.replace("Relu", "Softmax")
REFUSED = {
    "r (Softmax) is between": (SOFTMAX, SIZES, "y"),
    "r is read by others, too": (PLAIN + " z = MatMul(r, d)", {**SIZES, "d": (8, 5)}, "y z"),
    "it is no product of one constant matrix that it has for itself": (
        PLAIN + " u = MatMul(r, c)",
        SIZES,
        "y u",
    ),
    "x is no result of a node": ("y = MatMul(x, c)", {"c": (3, 5)}, "y"),
    "3 to 4 to 5 columns is no hidden width": (
        PLAIN,
        {"a": (3, 4), "v": (4,), "c": (4, 5)},
        "y",
    ),
    "z (Reshape): its columns are not the channels": (
        "h = MatMul(x, a) z = Reshape(h, s) r = Reshape(z, t) y = MatMul(r, c)",
        {
            "a": (3, 8),
            "s": np.array([4, 4], np.int64),
            "t": np.array([2, 8], np.int64),
            "c": (8, 5),
        },
        "y",
    ),
    "h (MatMul): its columns are not the channels": (
        "h = MatMul(x, a) r = Add(h, v) y = MatMul(r, c)",
        {"a": (3, 1), "v": (8,), "c": (8, 5)},
        "y",
    ),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_is_no_hidden_channel_has_a_reason(reason):
    body, constants, outputs = REFUSED[reason]
    found, reasons = find_hidden(model(body, constants, outputs).graph)
    assert not found
    assert reason in reasons.values()


def test_what_a_body_reads_stays():
    body = (
        "h = MatMul(x, a) r = Relu(h) n = ReduceSum(x) k = Cast <to = 9> (n) i = Squeeze(k) "
        "o = If (i) <then_branch = t () => (float[2,8] p) { p = Identity(r) }, "
        "else_branch = e () => (float[2,8] q) { q = Neg(r) }> y = MatMul(r, c)"
    )
    proto = model(body, {"a": (3, 8), "c": (8, 5)})
    found, reasons = find_hidden(proto.graph)
    assert not found
    assert reasons["y (MatMul)"] == "r is read by others, too"
