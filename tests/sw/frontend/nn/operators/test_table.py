"""Every operator of the float graph means what onnx's reference evaluator computes."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import Array, GraphError, TensorType
from celosia.sw.frontend.nn.operators.table import OPERATORS
from tests.support.onnx_runtime import run_session, runtime_session

RNG = np.random.default_rng(0)
X, Y = (RNG.standard_normal((2, 3, 4)).astype(np.float32) for _ in range(2))
Z, POSITIVE = Y[:, :1], np.abs(X) + np.float32(0.5)
A, B = (RNG.integers(-9, 9, (3, 4)) for _ in range(2))
B[B == 0] = 5
P, Q = A > 0, B > 2
IMAGE, FILTERS = (RNG.standard_normal(s).astype(np.float32) for s in ((2, 4, 7, 6), (6, 2, 3, 2)))
GAMMA, BETA = (RNG.standard_normal(4).astype(np.float32) for _ in range(2))
QUERY, KEY, VALUE = (
    RNG.standard_normal(s).astype(np.float32) for s in ((2, 4, 3, 8), (2, 2, 5, 8), (2, 2, 5, 6))
)
MASK = np.where(RNG.random((3, 5)) < 0.4, -np.inf, 0).astype(np.float32)
MASK[1] = -np.inf
TIES = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 2.4, 2.6, np.inf], np.float32)
ODD = np.array([1, np.nan, -np.inf, np.inf, 0], np.float32)
PLACES = np.array([[0, 2], [-1, 1]])
ROWS = np.array([[0, 1], [1, 2]])
SLIDING = {"before": (1, 0), "after": (0, 1), "strides": (2, 1), "dilations": (1, 2)}
THEIR_SLIDING = {"pads": [1, 0, 0, 1], "strides": [2, 1], "dilations": [1, 2]}
MOVED = {"starts": (1, 2, 0), "sizes": (1, 2, 2), "steps": (1, -2, 2)}

CASES = {
    "abs": ("Abs", [X], {}, {}),
    "add": ("Add", [X, Z], {}, {}),
    "and": ("And", [P, Q], {}, {}),
    "and of integers": ("BitwiseAnd", [A, B], {}, {}),
    "argmax": ("ArgMax", [A], {"axis": 1, "keepdims": True, "last": False}, {"axis": 1}),
    "argmax last": (
        "ArgMax",
        [A // 6],
        {"axis": 0, "keepdims": False, "last": True},
        {"axis": 0, "keepdims": 0, "select_last_index": 1},
    ),
    "attention": (
        "Attention",
        [QUERY, KEY, VALUE, MASK],
        {"scale": 0.3, "causal": False, "first_query": 0},
        {"scale": 0.3},
    ),
    "attention causal": (
        "Attention",
        [QUERY, KEY, VALUE],
        {"scale": 0.3, "causal": True, "first_query": 0},
        {"scale": 0.3, "is_causal": 1},
    ),
    "average_pool": (
        "AveragePool",
        [IMAGE],
        {"kernel": (3, 2), **SLIDING},
        {"kernel_shape": [3, 2], **THEIR_SLIDING},
    ),
    "broadcast": ("Expand", [Z, np.array([2, 3, 4])], {"shape": (2, 3, 4)}, {}),
    "cast": ("Cast", [X * 5], {"to": "int32"}, {"to": TensorProto.INT32}),
    "cast to bool": ("Cast", [ODD], {"to": "bool"}, {"to": TensorProto.BOOL}),
    "concat": ("Concat", [X, Z], {"axis": 1}, {"axis": 1}),
    "conv": (
        "Conv",
        [IMAGE, FILTERS, FILTERS[:, 0, 0, 0]],
        {"groups": 2, **SLIDING},
        {"group": 2, **THEIR_SLIDING},
    ),
    "cos": ("Cos", [X], {}, {}),
    "cumsum": (
        "CumSum",
        [X, np.array(1)],
        {"axis": 1, "exclusive": True, "reverse": True},
        {"exclusive": 1, "reverse": 1},
    ),
    "div": ("Div", [X, Z], {}, {}),
    "div of integers": ("Div", [A, B], {}, {}),
    "equal": ("Equal", [A, B], {}, {}),
    "erf": ("Erf", [X * 3], {}, {}),
    "exp": ("Exp", [X], {}, {}),
    "floor": ("Floor", [TIES], {}, {}),
    "gather": ("Gather", [X, PLACES], {"axis": 1}, {"axis": 1}),
    "gelu": ("Gelu", [X * 3], {"form": "erf"}, {}),
    "gelu by tanh": ("Gelu", [X * 3], {"form": "tanh"}, {"approximate": "tanh"}),
    "is_nan": ("IsNaN", [ODD], {}, {}),
    "conv of no image": (
        "Conv",
        [IMAGE[:0], FILTERS, np.ones(6, np.float32)],
        {**SLIDING, "groups": 2},
        {**THEIR_SLIDING, "group": 2},
    ),
    "layernorm": (
        "LayerNormalization",
        [X, GAMMA, BETA],
        {"axis": 2, "epsilon": 0.1},
        {"epsilon": 0.1},
    ),
    "less": ("Less", [A, B], {}, {}),
    "less_equal": ("LessOrEqual", [A, B], {}, {}),
    "log": ("Log", [POSITIVE], {}, {}),
    "matmul": ("MatMul", [X, np.swapaxes(Y, 1, 2)], {}, {}),
    "matmul that broadcasts": ("MatMul", [X, Y[0].T], {}, {}),
    "max": ("Max", [X, Z], {}, {}),
    "max_pool": (
        "MaxPool",
        [IMAGE],
        {"kernel": (3, 2), **SLIDING},
        {"kernel_shape": [3, 2], **THEIR_SLIDING},
    ),
    "min": ("Min", [X, Z], {}, {}),
    "mod": ("Mod", [A, B], {"truncate": False}, {}),
    "mod of floats": ("Mod", [X, Z], {"truncate": True}, {"fmod": 1}),
    "mul": ("Mul", [X, Z], {}, {}),
    "neg": ("Neg", [X], {}, {}),
    "not": ("Not", [P], {}, {}),
    "or": ("Or", [P, Q], {}, {}),
    "pad": (
        "Pad",
        [X, np.array([0, 1, 2, 1, 0, 3]), np.float32(7)],
        {"before": (0, 1, 2), "after": (1, 0, 3)},
        {},
    ),
    "pow": ("Pow", [POSITIVE, Z], {}, {}),
    "pow of integers": ("Pow", [A, np.abs(B) % 4], {}, {}),
    "reduce_max": ("ReduceMax", [X, np.array([0, 2])], {"axes": (0, 2), "keepdims": True}, {}),
    "reduce_mean": ("ReduceMean", [X, np.array([-1])], {"axes": (-1,), "keepdims": True}, {}),
    "reduce_min": (
        "ReduceMin",
        [A, np.array([1])],
        {"axes": (1,), "keepdims": False},
        {"keepdims": 0},
    ),
    "reduce_prod": ("ReduceProd", [X, np.array([1])], {"axes": (1,), "keepdims": True}, {}),
    "reduce_sum": ("ReduceSum", [A, np.array([0])], {"axes": (0,), "keepdims": True}, {}),
    "relu": ("Relu", [X], {}, {}),
    "reshape": ("Reshape", [X, np.array([4, 6])], {"shape": (4, 6)}, {}),
    "rmsnorm": (
        "RMSNormalization",
        [X, GAMMA],
        {"axis": 2, "epsilon": 0.1},
        {"epsilon": 0.1},
    ),
    "round": ("Round", [TIES], {}, {}),
    "round_float": ("", [X], {"to": "float16"}, {}),
    "scatter": ("ScatterND", [X, ROWS, Y[0, :2]], {"by": "none"}, {}),
    "scatter with a sum": (
        "ScatterND",
        [X, np.array([[0, 1], [0, 1]]), Y[0, :2]],
        {"by": "add"},
        {"reduction": "add"},
    ),
    "sigmoid": ("Sigmoid", [X * 9], {}, {}),
    "silu": ("Swish", [X], {"alpha": 1.7}, {"alpha": 1.7}),
    "hardswish": ("HardSwish", [X * 4], {}, {}),
    "sin": ("Sin", [X], {}, {}),
    "slice": (
        "Slice",
        [X, np.array([1, 2, 0]), np.array([2, -9, 3]), np.arange(3), np.array([1, -2, 2])],
        MOVED,
        {},
    ),
    "softmax": ("Softmax", [X], {"axis": 1}, {"axis": 1}),
    "sqrt": ("Sqrt", [POSITIVE], {}, {}),
    "sub": ("Sub", [X, Z], {}, {}),
    "tanh": ("Tanh", [X], {}, {}),
    "transpose": ("Transpose", [X], {"permutation": (1, 2, 0)}, {"perm": [1, 2, 0]}),
    "where": ("Where", [P, A, B], {}, {}),
    "xor": ("Xor", [P, Q], {}, {}),
}
"""An operator of ONNX, operands, our attributes and ONNX's; further operands are ONNX's alone."""

OURS = {"broadcast": 1, "cumsum": 1, "reshape": 1, "slice": 1}
"""How many operands ours have, where ONNX's have more; reductions have one, a pad two."""


ELSEWHERE = {"rotate", "cache", "largest", "rnn", "gru", "lstm"}
"""Operators that onnx has in other words, or not at all: tests of theirs compare them."""


def test_there_is_a_case_for_each_operator():
    assert {name.split()[0] for name in CASES} | ELSEWHERE == OPERATORS.keys()


def test_rotate_turns_halves_as_complex_numbers():
    x, angles = np.random.default_rng(0).standard_normal((2, 3, 8)), np.linspace(0, 3, 12)
    angles = angles.reshape(3, 4)
    table = np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
    turned = (x[..., :4] + 1j * x[..., 4:]) * np.exp(1j * angles)
    expected = np.concatenate([turned.real, turned.imag], axis=-1)
    np.testing.assert_allclose(ours("rotate", [x, table], {}), expected)
    with pytest.raises(GraphError, match="are not two halves"):
        ours("rotate", [x[..., 1:], table], {})
    with pytest.raises(GraphError, match="does not broadcast"):
        ours("rotate", [x, table[:, :1]], {})


def test_a_cache_has_new_rows_behind_its_first_ones():
    held, new = np.zeros((5, 3)), np.arange(6.0).reshape(2, 3)
    found = ours("cache", [held, new], {"first": 2})
    np.testing.assert_array_equal(found, np.concatenate([held[:2], new, held[4:]]))
    assert not held.any()
    with pytest.raises(GraphError, match="rows 4 to 5 are not in"):
        ours("cache", [held, new], {"first": 4})
    with pytest.raises(GraphError, match="are not as long as those of"):
        ours("cache", [held, new[:, 1:]], {"first": 0})


@pytest.mark.parametrize("smallest", [False, True])
@pytest.mark.parametrize(
    "x",
    [
        X,
        np.array([[1, 2, np.inf, 1, -np.inf, 2]], np.float32).T,
        np.array([[0], [-128], [127], [-128]], np.int8),
        np.array([[0], [255], [0], [3]], np.uint8),
        A,
    ],
    ids=["floats", "ties", "int8", "uint8", "int64"],
)
@pytest.mark.parametrize("axis", [0, 1])
def test_the_largest_elements_are_those_of_onnx_runtime(x, axis, smallest):
    """The first of equal elements comes first, and no elements have no largest ones."""
    for count in (0, 1, x.shape[axis]):
        names = ["values", "places"]
        node = helper.make_node("TopK", ["x", "count"], names, axis=axis, largest=not smallest)
        kind = helper.np_dtype_to_tensor_dtype(x.dtype)
        inputs = [helper.make_tensor_value_info("x", kind, x.shape)]
        outputs = [helper.make_empty_tensor_value_info(name) for name in names]
        stored = [numpy_helper.from_array(np.array([count]), "count")]
        graph = helper.make_graph([node], "test", inputs, outputs, stored)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)], ir_version=9)
        _, wanted = run_session(runtime_session(model), {"x": x})
        attributes = {"axis": axis, "count": count, "smallest": smallest}
        np.testing.assert_array_equal(ours("largest", [x], attributes), wanted)
    with pytest.raises(GraphError, match=f"has not 9 elements along axis {axis}"):
        ours("largest", [x], {"axis": axis, "count": 9, "smallest": smallest})


def operands(name: str) -> list[Array]:
    """Our operands of a case."""
    op, values = name.split(maxsplit=1)[0], [np.asarray(value) for value in CASES[name][1]]
    count = OURS.get(op, 1 if op.startswith("reduce_") else len(values))
    return [values[0], values[2]] if op == "pad" else values[:count]


def ours(op: str, values: list[Array], attributes) -> Array:
    builder = GraphBuilder("test")
    names = [builder.input(f"i{k}", TensorType.of(value)) for k, value in enumerate(values)]
    graph = builder.finish({"y": builder.op(op, *names, **attributes)})
    return interpret(graph, {f"i{k}": value for k, value in enumerate(values)})["y"]


def theirs(op: str, values: list[Array], attributes) -> Array:
    names = [f"i{k}" for k in range(len(values))]
    node = helper.make_node(op, names, ["y"], **attributes)
    types = [helper.np_dtype_to_tensor_dtype(value.dtype) for value in values]
    inputs = [
        helper.make_tensor_value_info(name, kind, None)
        for name, kind in zip(names, types, strict=True)
    ]
    outputs = [helper.make_tensor_value_info("y", TensorProto.UNDEFINED, None)]
    graph = helper.make_graph([node], "test", inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)])
    found = ReferenceEvaluator(model).run(None, dict(zip(names, values, strict=True)))
    assert isinstance(found, list)
    return found[0]


@pytest.mark.parametrize("name", [name for name in CASES if CASES[name][0]])
def test_an_operator_is_what_the_reference_says(name):
    theirs_op, values, attributes, their_attributes = CASES[name]
    values = [np.asarray(value) for value in values]
    found = ours(name.split()[0], operands(name), attributes)
    wanted = theirs(theirs_op, values, their_attributes)
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_allclose(found, wanted, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize(("to", "bits"), [("float16", 11), ("bfloat16", 8)])
def test_numbers_are_rounded_to_the_nearest_of_a_format(to, bits):
    x = RNG.standard_normal(1000).astype(np.float32)
    found = ours("round_float", [x], {"to": to})
    mantissa, power = np.frexp(x.astype(float))
    wanted = np.ldexp(np.rint(mantissa * 2**bits) / 2**bits, power)
    np.testing.assert_array_equal(found, wanted.astype(np.float32))


def test_ties_are_rounded_to_even_and_nan_stays():
    x = np.array([1 + 2**-8, 1 + 3 * 2**-8, np.nan, np.inf], np.float32)
    found = ours("round_float", [x], {"to": "bfloat16"})
    np.testing.assert_array_equal(found, np.array([1, 1 + 2**-6, np.nan, np.inf], np.float32))


def test_a_query_that_sees_no_key_gives_zeros():
    attributes = {"scale": 1.0, "causal": True, "first_query": -2}
    found = ours("attention", [QUERY, KEY, VALUE], attributes)
    assert not found[:, :, :2].any()
    assert found[:, :, 2].all()


def test_queries_behind_a_past_see_it():
    attributes = {"scale": 1.0, "causal": True, "first_query": 2}
    found = ours("attention", [QUERY, KEY, VALUE], attributes)
    every = ours("attention", [QUERY, KEY, VALUE], {**attributes, "causal": False})
    np.testing.assert_allclose(found[:, :, 2], every[:, :, 2], rtol=1e-6)
    assert np.abs(found[:, :, 0] - every[:, :, 0]).max() > 0.01


PAIRS = ("add", "and", "div", "max", "min", "mod", "mul", "or", "pow", "sub", "xor")
SEVERAL = {
    **dict.fromkeys((*PAIRS, "equal", "less", "less_equal"), (2, 2)),
    **dict.fromkeys(("cache", "gather", "matmul", "pad", "rmsnorm", "rotate"), (2, 2)),
    **dict.fromkeys(("where", "scatter"), (3, 3)),
    **dict.fromkeys(("conv", "layernorm"), (2, 3)),
    **dict.fromkeys(("rnn", "gru"), (4, 4)),
    "attention": (3, 4),
    "lstm": (5, 5),
    "concat": (1, None),
}
"""The fewest and the most operands of operators; all others have one."""


def test_operators_have_as_many_operands_as_they_mean():
    counts = {name: (each.least, each.most) for name, each in OPERATORS.items()}
    assert {name: found for name, found in counts.items() if found != (1, 1)} == SEVERAL
