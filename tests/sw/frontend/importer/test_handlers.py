"""Nodes in forms that onnx's own cases do not have, against ONNX Runtime; and what is refused."""

import numpy as np
import pytest
from onnx import helper

from celosia.sw.frontend.nn.interpret import interpret
from tests.sw.frontend.importer.handlers.test_refusals import refusal
from tests.sw.frontend.importer.microsoft.nodes import by_runtime, compare
from tests.sw.frontend.importer.models import floats, imported, model

RANDOM = np.random.default_rng(5)
X = floats(2, 3, 4) * 3
EDGES = np.array([-1e4, -2.0, -0.5, -0.0, 0.0, 0.5, 2.0, 1e4], np.float32)
"""Both sides of what an activation bends at, and far away from it."""
WHOLE = np.array([[3, -2, 5], [-7, 0, 1]], np.int32)
IMAGE = floats(2, 4, 5, 6)
BYTES = np.array([1, 255, 3], np.uint8)


def ints(*values):
    return np.array(values, np.int64)


@pytest.mark.parametrize(
    ("op", "attributes"),
    [
        ("Relu", {}),
        ("LeakyRelu", {}),
        ("LeakyRelu", {"alpha": -0.5}),
        ("ThresholdedRelu", {}),
        ("ThresholdedRelu", {"alpha": 0.5}),
        ("Elu", {}),
        ("Elu", {"alpha": 2.5}),
        ("Celu", {}),
        ("Celu", {"alpha": 2.5}),
        ("Selu", {}),
        ("Selu", {"alpha": 2.5, "gamma": 0.5}),
        ("HardSigmoid", {}),
        ("HardSigmoid", {"alpha": 0.5, "beta": 0.1}),
        ("HardSwish", {}),
        ("Softplus", {}),
        ("Softsign", {}),
        ("Sign", {}),
        ("Ceil", {}),
        ("Reciprocal", {}),
        ("IsInf", {}),
        ("IsInf", {"detect_negative": 0}),
        ("IsInf", {"detect_positive": 0}),
        ("IsInf", {"detect_positive": 0, "detect_negative": 0}),
        ("IsNaN", {}),
        *((op, {}) for op in ("Abs", "Neg", "Floor", "Round", "Exp", "Erf", "Sin", "Cos", "Tan")),
        *((op, {}) for op in ("Sinh", "Cosh", "Asinh", "Identity", "Tanh", "Sigmoid")),
        *((op, {}) for op in ("Sqrt", "Log", "Acosh", "Atanh")),
    ],
)
def test_activations_at_their_edges(op, attributes):
    values = {
        "IsInf": np.array([-np.inf, 0, np.inf, np.nan], np.float32),
        "IsNaN": np.array([-np.inf, 0, np.inf, np.nan], np.float32),
        "Reciprocal": EDGES[:4],
        **dict.fromkeys(("Exp", "Sinh", "Cosh", "Tan"), EDGES[1:-1]),
        **dict.fromkeys(("Sqrt", "Log"), EDGES[5:]),
        "Acosh": EDGES[-2:],
        "Atanh": EDGES[2:6],
    }.get(op, EDGES)
    compare(op, [values], domain="", **attributes)


@pytest.mark.parametrize(
    ("op", "inputs", "attributes"),
    [
        ("Softmax", [X], {}),
        ("Softmax", [X], {"axis": 0}),
        ("Softmax", [X], {"axis": -2}),
        ("LogSoftmax", [X * 100], {}),
        ("LogSoftmax", [X], {"axis": 1}),
        ("Hardmax", [np.round(X)], {}),
        ("Hardmax", [np.round(X)], {"axis": 1}),
        ("PRelu", [X, floats(3, 1)], {}),
        ("Relu", [WHOLE], {"opset": 17}),
        ("Max", [WHOLE], {}),
        ("Mean", [X], {}),
        ("Mean", [X, floats(4), floats(3, 1)], {}),
        ("Sum", [X, floats(4), floats(3, 1)], {}),
        ("Min", [X, floats(4), floats(3, 1)], {}),
        ("Pow", [WHOLE, np.array(2, np.int32)], {}),
        ("Pow", [WHOLE, np.array([2.0, 0.0, 1.0], np.float32)], {}),
        ("Pow", [np.abs(X), np.array(3, np.int32)], {}),
        ("Mod", [WHOLE, np.array([2, -3, 4], np.int32)], {}),
        ("Mod", [WHOLE, np.array([2, -3, 4], np.int32)], {"fmod": 1}),
        ("Mod", [X, np.full(4, -0.75, np.float32)], {"fmod": 1}),
        ("BitShift", [BYTES, np.array([0, 1, 7], np.uint8)], {"direction": "LEFT"}),
        (
            "BitShift",
            [BYTES, np.array([0, 1, 1], np.uint8)],
            {"direction": "RIGHT"},
        ),
        ("Clip", [X, np.float32(-0.5)], {}),
        ("Clip", [X, None, np.float32(0.5)], {}),
        ("Clip", [X, np.float32(0.5), np.float32(-0.5)], {}),
        ("Where", [X > 0, X, np.float32(7)], {}),
        ("Greater", [X, floats(3, 1)], {}),
        ("GreaterOrEqual", [np.round(X), np.float32(1)], {}),
        ("LessOrEqual", [np.round(X), np.float32(1)], {}),
        *((op, [np.round(X), np.float32(1)], {}) for op in ("Less", "Equal", "Sub", "Div", "Mul")),
        *((op, [X > 0, X > 1], {}) for op in ("And", "Or", "Xor")),
        ("Not", [X > 0], {}),
        ("Sign", [BYTES], {}),
        ("Sign", [WHOLE], {}),
        ("CastLike", [X, BYTES[:0]], {}),
        ("Dropout", [X], {}),
    ],
)
def test_elements(op, inputs, attributes):
    compare(op, inputs, domain="", **{k: v for k, v in attributes.items() if k != "opset"})


@pytest.mark.parametrize(
    ("op", "inputs", "attributes"),
    [
        ("Gather", [X, ints(-1, 0)], {}),
        ("Gather", [X, ints(-1, 0)], {"axis": -1}),
        ("Gather", [X, np.array(1)], {"axis": 1}),
        ("GatherElements", [X, np.argsort(X, 1)[:, :2]], {"axis": 1}),
        ("GatherElements", [X, np.argsort(X, 0) - 2], {}),
        ("GatherElements", [X, np.argsort(X, 2) - 4], {"axis": -1}),
        ("GatherND", [X, ints([1, -1], [0, 2])], {}),
        ("GatherND", [X, ints([2], [-3])], {"batch_dims": 1}),
        ("ScatterElements", [X, np.zeros((1, 2, 1), np.int64), floats(1, 2, 1)], {"axis": 2}),
        ("ScatterElements", [X, ints([[1, 0]]), floats(1, 1, 2)], {}),
        ("ScatterND", [X, ints([1, 2], [0, 0]), floats(2, 4)], {}),
        ("ScatterElements", [X, ints([[1, 0]]), floats(1, 1, 2)], {"reduction": "add"}),
        ("ScatterND", [X, ints([1, 2], [0, 0]), floats(2, 4)], {"reduction": "mul"}),
        ("MeanVarianceNormalization", [IMAGE], {}),
        ("MeanVarianceNormalization", [IMAGE], {"axes": [0, 2, 3]}),
        ("SoftmaxCrossEntropyLoss", [X, ints([0, 2, 1, 1], [2, 0, 0, 1])], {}),
        ("SoftmaxCrossEntropyLoss", [X, ints([0, 2, 1, 1], [2, 0, 0, 1])], {"reduction": "sum"}),
        ("ReduceSum", [X], {}),
        ("ReduceSum", [X], {"keepdims": 0}),
        ("ReduceMean", [X], {"axes": [-1, 0]}),
        ("ReduceL1", [X], {"axes": [1], "keepdims": 0}),
        ("ReduceL2", [WHOLE], {"axes": [1]}),
        ("ReduceLogSum", [np.abs(X)], {"axes": [-1]}),
        ("ReduceLogSumExp", [X * 90], {"axes": [0, 2], "keepdims": 0}),
        ("ReduceSumSquare", [WHOLE], {"axes": [0]}),
        ("ReduceProd", [X], {"axes": [-2]}),
        ("ArgMin", [X], {}),
        ("ArgMax", [X], {"axis": -1, "keepdims": 0}),
        ("LpNormalization", [X], {"axis": 1}),
        ("LpNormalization", [X], {"p": 1}),
        ("LayerNormalization", [X, floats(4), floats(4)], {}),
        ("LayerNormalization", [X, floats(3, 4)], {"axis": 1, "epsilon": 0.5}),
        ("InstanceNormalization", [IMAGE, floats(4), floats(4)], {}),
        ("InstanceNormalization", [IMAGE, floats(4), floats(4)], {"epsilon": 0.5}),
        ("BatchNormalization", [IMAGE, *(np.abs(floats(4)) for _ in range(4))], {}),
        ("BatchNormalization", [IMAGE, *(np.abs(floats(4)) for _ in range(4))], {"epsilon": 0.5}),
        ("Gemm", [floats(3, 4), floats(4, 5)], {}),
        ("Gemm", [floats(4, 3), floats(5, 4), floats(5)], {"transA": 1, "transB": 1}),
        ("Gemm", [floats(3, 4), floats(4, 5), floats(3, 1)], {"alpha": 0.5, "beta": -2.0}),
        ("MatMul", [floats(4), floats(4)], {}),
        ("MatMul", [floats(4), floats(2, 4, 5)], {}),
        ("MatMul", [floats(2, 3, 4), floats(4)], {}),
        ("Conv", [IMAGE, floats(2, 4, 3, 3)], {}),
        ("Conv", [IMAGE, floats(4, 2, 3, 3), floats(4)], {"group": 2, "pads": [1, 0, 2, 1]}),
        ("Conv", [IMAGE, floats(2, 4, 2, 3)], {"strides": [2, 1], "dilations": [1, 2]}),
        ("Conv", [IMAGE, floats(2, 4, 2, 3)], {"strides": [2, 2], "auto_pad": "SAME_UPPER"}),
        ("Conv", [IMAGE, floats(2, 4, 2, 2)], {"auto_pad": "SAME_LOWER"}),
        ("Conv", [IMAGE, floats(2, 4, 2, 2)], {"auto_pad": "VALID"}),
        ("MaxPool", [IMAGE], {"kernel_shape": [2, 3], "pads": [1, 1, 0, 1]}),
        ("MaxPool", [IMAGE], {"kernel_shape": [2, 2], "strides": [2, 2], "ceil_mode": 1}),
        ("AveragePool", [IMAGE], {"kernel_shape": [2, 3], "pads": [1, 1, 0, 1]}),
        (
            "AveragePool",
            [IMAGE],
            {"kernel_shape": [2, 3], "pads": [1, 1, 0, 1], "count_include_pad": 1},
        ),
        ("GlobalAveragePool", [IMAGE], {}),
        ("GlobalMaxPool", [IMAGE], {}),
        ("DepthToSpace", [IMAGE], {"blocksize": 2}),
        ("DepthToSpace", [IMAGE], {"blocksize": 2, "mode": "CRD"}),
        ("SpaceToDepth", [floats(1, 2, 4, 6)], {"blocksize": 2}),
        ("Transpose", [X], {}),
        ("Flatten", [X], {}),
        ("Flatten", [X], {"axis": 0}),
        ("Flatten", [X], {"axis": 3}),
        ("Flatten", [X], {"axis": -1}),
        ("Concat", [X, X[:, :1]], {"axis": -2}),
        ("Trilu", [X], {}),
        ("Trilu", [X], {"upper": 0}),
        ("Size", [X], {}),
        ("Shape", [X], {"start": 1}),
        ("Shape", [X], {"end": -1}),
        ("Einsum", [X, floats(4, 5)], {"equation": "bij,jk"}),
        ("Einsum", [X, floats(2, 5, 4)], {"equation": "bij,bkj->bik"}),
        ("Einsum", [X], {"equation": "bij->jb"}),
        ("Einsum", [floats(3, 4), floats(5)], {"equation": "ij,k->ki"}),
        ("Einsum", [X, floats(2, 4, 5), floats(2, 3)], {"equation": "bnd,bde,bn->bne"}),
        ("Einsum", [X, floats(3, 5), floats(5, 6), floats(4)], {"equation": "bij,ik,kl,j"}),
        ("Einsum", [floats(2, 3, 4), X], {"equation": "...id,...jd->...ij"}),
        ("Einsum", [X, X], {"equation": "...j,...j"}),
        ("Einsum", [X], {"equation": "b...->...b"}),
    ],
)
def test_axes_and_products(op, inputs, attributes):
    compare(op, inputs, domain="", within=(1e-4, 1e-5), **attributes)


@pytest.mark.parametrize(
    ("op", "known", "attributes"),
    [
        ("TopK", ints(2), {}),
        ("TopK", ints(3), {"axis": 1, "largest": 0}),
        ("Unsqueeze", ints(0, -1), {}),
        ("CumSum", np.array(1), {}),
        ("CumSum", np.array(-1), {"exclusive": 1}),
        ("CumSum", np.array(0), {"reverse": 1}),
        ("CumSum", np.array(2), {"reverse": 1, "exclusive": 1}),
    ],
)
def test_operands_that_are_known(op, known, attributes):
    outputs = ["y", "places"] if op == "TopK" else ["y"]
    node = helper.make_node(op, ["x", "known"], outputs, **attributes)
    proto = model([node], {"x": [*X.shape]}, ["y"], {"known": known})
    (wanted,) = by_runtime(proto, {"x": X})
    np.testing.assert_allclose(interpret(imported(proto).graph, {"x": X})["y"], wanted, 1e-6, 1e-6)


TENTH, TWENTIETH, ZERO = np.float32(0.1), np.float32(0.05), np.array(7, np.uint8)
SMALL = RANDOM.integers(0, 255, (2, 4, 5, 6), np.uint8)
FILTERS = RANDOM.integers(-9, 9, (3, 4, 2, 3), np.int8)
SCALES = np.array([0.1, 0.2, 0.3], np.float32)


@pytest.mark.parametrize(
    ("op", "inputs", "attributes"),
    [
        ("MatMulInteger", [SMALL, RANDOM.integers(-9, 9, (6, 5), np.int8), ZERO], {}),
        ("ConvInteger", [SMALL, FILTERS.view(np.uint8) // 32, ZERO], {"strides": [2, 1]}),
        (
            "QLinearConv",
            [SMALL, TENTH, ZERO, FILTERS, SCALES, np.zeros(3, np.int8), np.float32(2), ZERO],
            {},
        ),
        (
            "QLinearConv",
            [
                *(SMALL, TENTH, ZERO, FILTERS, TWENTIETH, np.int8(0), np.float32(2), ZERO),
                np.array([9000, -900, 90], np.int32),
            ],
            {"pads": [1, 0, 0, 1]},
        ),
    ],
)
def test_products_of_integers(op, inputs, attributes):
    compare(op, inputs, domain="", within=(0, 0), **attributes)


@pytest.mark.parametrize("opset", [11, 12])
def test_what_became_operands_was_attributes(opset):
    """Axes and parts, up to opset 12; NumPy says what the nodes are."""
    nodes = [
        helper.make_node("Unsqueeze", ["x"], ["u"], axes=[0, 2]),
        helper.make_node("Squeeze", ["u"], ["s"], axes=[2]),
        helper.make_node("Squeeze", ["s"], ["t"]),
        helper.make_node("Split", ["t"], ["a", "b"], axis=1, split=[1, 3]),
        helper.make_node("Split", ["t"], ["c", "d"], axis=1),
        helper.make_node("ReduceSum", ["b"], ["r"], axes=[0], keepdims=0),
    ]
    graph = imported(model(nodes, {"x": [3, 4]}, ["u", "a", "c", "d", "r"], opset=opset)).graph
    x = floats(3, 4)
    found = interpret(graph, {"x": x})
    assert (found["u"].shape, found["a"].tolist()) == ((1, 3, 1, 4), x[:, :1].tolist())
    np.testing.assert_array_equal(np.concatenate([found["c"], found["d"]], 1), x)
    np.testing.assert_allclose(found["r"], x[:, 1:].sum(axis=0), 1e-6)


@pytest.mark.parametrize("opset", [18, 21])
def test_groups_of_channels_have_a_factor_each_or_one_of_each_channel(opset):
    x, groups = floats(2, 6, 4), 2 if opset == 18 else 6
    gamma, beta = floats(groups, seed=1), floats(groups, seed=2)
    given = {"num_groups": 2, "epsilon": 0.25}
    node = helper.make_node("GroupNormalization", ["x", "g", "b"], ["y"], **given)
    constants = {"g": gamma, "b": beta}
    graph = imported(model([node], {"x": [2, 6, 4]}, ["y"], constants, opset)).graph
    apart = x.reshape(2, 2, 12).astype(float)
    centered = apart - apart.mean(axis=2, keepdims=True)
    normed = centered / np.sqrt((centered**2).mean(axis=2, keepdims=True) + 0.25)
    factor, addend = (np.repeat(each, 6 // groups)[:, None] for each in (gamma, beta))
    wanted = normed.reshape(2, 6, 4) * factor + addend
    np.testing.assert_allclose(interpret(graph, {"x": x})["y"], wanted, 1e-4, 1e-5)


@pytest.mark.parametrize(
    ("alpha", "op"),
    [({}, "Swish"), ({"alpha": 0.5}, "Swish"), ({}, "RMSNormalization"), ({}, "Mish")],
)
def test_operators_of_new_opsets(alpha, op):
    gamma = {"g": floats(4, seed=3)} if op == "RMSNormalization" else {}
    node = helper.make_node(op, ["x", *gamma], ["y"], **alpha)
    graph = imported(model([node], {"x": [2, 3, 4]}, ["y"], gamma, 24)).graph
    squares = (X.astype(float) ** 2).mean(axis=-1, keepdims=True)
    if gamma:
        wanted = X / np.sqrt(squares + 1e-5) * gamma["g"]
    elif op == "Mish":
        wanted = X * np.tanh(np.log1p(np.exp(X.astype(float))))
    else:
        wanted = X / (1 + np.exp(-alpha.get("alpha", 1.0) * X.astype(float)))
    np.testing.assert_allclose(interpret(graph, {"x": X})["y"], wanted, 1e-5, 1e-6)


def test_a_norm_gives_its_mean_and_deviation_alone_or_both():
    """A file may name only one of them."""
    for outputs in (("y", "mean", "deviation"), ("y", "", "deviation"), ("y", "mean")):
        inputs = [X, floats(4), floats(4)]
        compare("LayerNormalization", inputs, outputs, "", within=(1e-4, 1e-5), epsilon=0.25)


@pytest.mark.parametrize(
    ("op", "shape", "constants", "attributes", "reason"),
    [
        ("Slice", [2, 3], (ints(0), ints(2), ints(0), ints(0)), {}, "steps (0,) do not fit"),
        ("Slice", [2, 3], (ints(0, 0), ints(2)), {}, "its starts (0, 0), ends (2,), axes (0, 1)"),
        ("Concat", [2, 3], (floats(2, 3),), {}, "its attribute axis is missing"),
        ("Split", [2, 3], (ints(3, -1),), {"outputs": 2}, "parts (3, -1) are not axis 0"),
        ("Pad", [2, 3], (ints(0, 0, 0, 0),), {"mode": "half"}, "its mode 'half' is not supported"),
        ("ReduceMean", None, (WHOLE,), {}, "the mean of int32 is not supported"),
        ("Gemm", [2, 3, 4], (floats(4, 5),), {}, "its operands are no matrices"),
        ("Einsum", [2, 3], (), {"equation": "ii->i"}, "does not name each axis of x once"),
        ("Einsum", [2, 3], (), {"equation": "ij->ii"}, "makes axes out of nothing"),
        ("Range", None, (0, 1 << 28, 1), {}, "it has 268435456 elements"),
        ("ConstantOfShape", None, (ints(2, -1),), {}, "its shape is (2, -1)"),
        ("Cast", [2], (), {"to": 8}, "strings are not supported"),
        ("GatherND", [2, 3], (ints([0]),), {"batch_dims": -1}, "batch_dims: -1 is not possible"),
        ("GroupNormalization", [1, 4, 2], (floats(4),) * 2, {"num_groups": 0, "opset": 21}, "4 c"),
        ("Reshape", [2, 3], (ints(4, -1),), {}, "has not the elements of shape (4, -1)"),
        ("Flatten", [2, 3], (), {"axis": -3}, "axis -3 is not in"),
    ],
)
def test_what_is_wrong_is_said(op, shape, constants, attributes, reason):
    found = refusal(op, shape, constants, **attributes)
    assert found is not None
    assert reason in found


@pytest.mark.parametrize("times", [4096, 4097])
def test_a_size_is_16384_at_most(times):
    nothing, scales = np.empty(0, np.float32), np.array([1, times], np.float32)
    found = refusal("Resize", [1, 4], (nothing, scales), opset=18)
    if times == 4096:
        assert found is None
    else:
        assert found is not None
        assert "its result has the sizes (1, 16388): each is 1 to 16384" in found
