"""Queries that see no key: 0, NaN or a mean, as the file says, and as ONNX Runtime computes it."""

import numpy as np
import pytest
from onnx import TensorProto, helper

from celosia.isa.presets import resolve_config
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.driver.graph_run import GraphRun
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.recognize.recognize import recognize
from celosia.sw.ir import graph_interpret
from celosia.sw.quantize.graphs.exact import exact
from celosia.sw.quantize.graphs.masks import Sight
from celosia.sw.quantize.graphs.quantized import run_model
from tests.support.onnx_runtime import run_session, runtime_session
from tests.support.quantized_graph import quantize_graph
from tests.sw.frontend.importer.models import floats, imported, model

BATCH, HEADS, ROWS, COLS = 2, 2, 8, 16
WIDTH = HEADS * COLS
LEAST = float(np.finfo(np.float32).min)
CAUSAL = np.triu(np.ones((ROWS, ROWS), np.float32), 1)
node = helper.make_node
CONSTANTS = {
    "apart": np.array([BATCH, ROWS, HEADS, COLS]),
    "together": np.array([BATCH, ROWS, WIDTH]),
    "scale": np.float32(COLS**-0.5),
    "zero": np.float32(0),
    "infinite": np.float32(-np.inf),
    "last": np.array([-1]),
    "floor": np.float32(LEAST),
    **{name: floats(WIDTH, WIDTH, seed=index) / 6 for index, name in enumerate("qkvo")},
}
GUARDS = {
    "": [node("Identity", ["p"], ["weights"])],
    "IsNaN": [
        node("IsNaN", ["p"], ["none"]),
        node("Where", ["none", "zero", "p"], ["weights"]),
    ],
    "all hidden": [
        node("Equal", ["scores", "infinite"], ["hidden"]),
        node("Not", ["hidden"], ["shown"]),
        node("Cast", ["shown"], ["numbers"], to=TensorProto.INT32),
        node("ReduceMax", ["numbers", "last"], ["some"], keepdims=1),
        node("Cast", ["some"], ["any"], to=TensorProto.BOOL),
        node("Where", ["any", "p", "zero"], ["weights"]),
    ],
}


def bias(least):
    return [node("Where", ["mask", "zero", "least"], ["bias"])], {"least": np.float32(least)}


def added(least):
    """What a mask does to scores: a bias is added to them."""
    nodes, more = bias(least)
    return [*nodes, node("Add", ["raw", "bias"], ["scores"])], more


def chosen(least):
    """A number is chosen instead of them."""
    return [node("Where", ["mask", "raw", "least"], ["scores"])], {"least": np.float32(least)}


def twice(least):
    """Two biases are added, of which both may hide a key."""
    nodes, more = bias(least)
    later = np.where(CAUSAL, np.float32(least), np.float32(0))
    adds = [node("Add", ["bias", "later"], ["both"]), node("Add", ["raw", "both"], ["scores"])]
    return [*nodes, *adds], {**more, "later": later}


def floored(least):
    """Behind that, no score is less than a floor."""
    nodes, more = twice(least)
    last = node("Add", ["raw", "both"], ["sums"])
    return [*nodes[:-1], last, node("Max", ["sums", "floor"], ["scores"])], more


def spelled(how, least, guard=""):
    """The file of an attention whose operator is spelled."""
    nodes, more = how(least)
    nodes = [
        node("Transpose", ["keys"], ["across"], perm=[0, 1, 3, 2]),
        node("MatMul", ["queries", "across"], ["product"]),
        node("Mul", ["product", "scale"], ["raw"]),
        *nodes,
        node("Softmax", ["scores"], ["p"], axis=-1),
        *GUARDS[guard],
        node("MatMul", ["weights", "values"], ["context"]),
    ]
    return around(nodes, more, 18)


def operator(**attributes):
    """The file of ONNX's attention."""
    operands = ["queries", "keys", "values", "mask"]
    return around([node("Attention", operands, ["context"], **attributes)], {}, 23)


def around(nodes, more, opset):
    before = []
    for letter, name in zip("qkv", ("queries", "keys", "values"), strict=True):
        before += [
            node("MatMul", ["x", letter], [f"{letter} rows"]),
            node("Reshape", [f"{letter} rows", "apart"], [f"{letter} apart"]),
            node("Transpose", [f"{letter} apart"], [name], perm=[0, 2, 1, 3]),
        ]
    behind = [
        node("Transpose", ["context"], ["turned"], perm=[0, 2, 1, 3]),
        node("Reshape", ["turned", "together"], ["merged"]),
        node("MatMul", ["merged", "o"], ["y"]),
    ]
    inputs = {"x": [BATCH, ROWS, WIDTH]}
    proto = model([*before, *nodes, *behind], inputs, ["y"], CONSTANTS | more, opset)
    shape = [BATCH, 1, ROWS, ROWS]
    proto.graph.input.append(helper.make_tensor_value_info("mask", TensorProto.BOOL, shape))
    return proto


def inputs(seed):
    """Row 3 of the first text and rows 0 and 1 of the second one see no key."""
    random = np.random.default_rng(seed)
    mask = random.random((BATCH, 1, ROWS, ROWS)) < 0.6
    mask[..., 0] = True
    mask[0, 0, 3] = mask[1, 0, :2] = False
    x = random.standard_normal((BATCH, ROWS, WIDTH)).astype(np.float32)
    return {"x": x, "mask": mask}


BLIND = np.zeros((BATCH, ROWS), np.bool_)
BLIND[0, 3] = BLIND[1, :2] = True


def decibels(real, found):
    return 10 * np.log10(np.square(real).sum() / np.square(real - found).sum())


def checked(proto):
    """What the model computes, the same with exact functions, and ONNX Runtime's."""
    graph = recognize(imported(proto).graph, padded=False).graph
    assert any(node.op == "attention" for node in graph.nodes)
    quantized = quantize_graph(graph, [inputs(seed) for seed in range(1, 17)])
    given, config = inputs(0), resolve_config("tiny", ())

    def segment(_, integers, values):
        run = GraphRun(
            FunctionalDevice(config, memory_bytes=1 << 22, seed=1), compile_graph(integers, config)
        )
        run.load(values)
        run.run()
        expected = graph_interpret.interpret(integers, values)
        for tensor in run.written:
            assert np.array_equal(run.read(tensor), expected[tensor]), tensor
        return expected

    result = run_model(quantized, given, segment)
    best = run_model(quantized, given, exact(quantized)).outputs["y"]
    (real,) = run_session(runtime_session(proto), given)
    wanted = np.where(np.isnan(real), 0, real)
    np.testing.assert_allclose(interpret(graph, given)["y"], wanted, atol=1e-5)
    return result, best, real


FILES = {
    "the operator": operator(),
    "the operator, causal": operator(is_causal=1),
    "guarded bias": spelled(added, -np.inf, "IsNaN"),
    "guarded choice": spelled(chosen, -np.inf, "IsNaN"),
    "bias, rows found": spelled(added, -np.inf, "all hidden"),
    "choice, rows found": spelled(chosen, -np.inf, "all hidden"),
    "guarded biases": spelled(twice, -np.inf, "IsNaN"),
    "least bias": spelled(added, LEAST),
    "large bias": spelled(added, -1e9),
    "least choice": spelled(chosen, LEAST),
    "small choice": spelled(chosen, -2e4),
    "small bias": spelled(added, -1e4),
    "least biases": spelled(twice, LEAST),
    "floored biases": spelled(floored, LEAST),
    "floored infinity": spelled(floored, -np.inf),
    "guarded mean": spelled(added, LEAST, "IsNaN"),
}


@pytest.mark.parametrize("name", FILES)
def test_rows_that_see_no_key_are_what_the_file_says(name):
    result, best, real = checked(FILES[name])
    found = result.outputs["y"]
    assert np.isfinite(real).all()
    assert decibels(real, found) > 27
    assert decibels(real[BLIND], found[BLIND]) > 20 if real[BLIND].any() else not found[BLIND].any()
    assert decibels(real, best) > decibels(real, found) - 1.5


def test_rows_of_nan_are_0_and_counted():
    result, _, real = checked(spelled(added, -np.inf))
    found = result.outputs["y"]
    assert np.isnan(real[BLIND]).all()
    assert not found[BLIND].any()
    assert decibels(real[~BLIND], found[~BLIND]) > 27
    ((_, sight),) = result.blind
    assert sight == Sight.NONE
    assert result.blind.total() == HEADS * BLIND.sum()
