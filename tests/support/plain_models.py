"""Models of products, as float graphs and as ONNX files."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.operators.operator import TensorType

__all__ = ["perceptron", "save_perceptron"]

SIZES = (16, 24, 40, 8)
"""Rows, inputs, hidden elements and outputs."""


def _weights(seed: int) -> tuple[np.ndarray, ...]:
    random, (_, width, hidden, outputs) = np.random.default_rng(seed), SIZES
    shapes = (width, hidden), (hidden,), (hidden, outputs), (outputs,)
    return tuple(random.normal(0, 0.2, shape).astype(np.float32) for shape in shapes)


def perceptron(between: str = "relu", seed: int = 0) -> FloatGraph:
    """Two products with a bias, and a function between them."""
    builder, (rows, width, *_) = GraphBuilder("perceptron"), SIZES
    up, first, down, second = map(builder.constant, _weights(seed))
    x = builder.input("x", TensorType("float32", (rows, width)))
    hidden = builder.op(between, builder.op("add", builder.op("matmul", x, up), first))
    y = builder.op("add", builder.op("matmul", hidden, down), second)
    return builder.finish({"y": y})


def save_perceptron(path, between: str = "Relu", seed: int = 0) -> None:
    """The same as a file; nodes are called `up`, `between` and `down`."""
    names = ("w1", "b1", "w2", "b2")
    constants = [
        numpy_helper.from_array(array, name)
        for array, name in zip(_weights(seed), names, strict=True)
    ]
    nodes = [
        helper.make_node("MatMul", ["x", "w1"], ["a"]),
        helper.make_node("Add", ["a", "b1"], ["h"], name="up"),
        helper.make_node(between, ["h"], ["r"], name="between"),
        helper.make_node("MatMul", ["r", "w2"], ["c"]),
        helper.make_node("Add", ["c", "b2"], ["y"], name="down"),
    ]
    inputs, outputs = (
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, (SIZES[0], cols))]
        for name, cols in (("x", SIZES[1]), ("y", SIZES[3]))
    )
    graph = helper.make_graph(nodes, "perceptron", inputs, outputs, constants)
    opset = [helper.make_opsetid("", 17)]
    save(helper.make_model(graph, opset_imports=opset, ir_version=8), path)
