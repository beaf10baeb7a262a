"""Small ONNX models for tests."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

from celosia.sw.frontend.importer.import_model import Imported, translate
from celosia.sw.frontend.importer.source.model_file import checked_model

FLOAT = TensorProto.FLOAT


def model(
    nodes: Sequence[NodeProto],
    inputs: Mapping[str, Sequence[int | str]],
    outputs: Sequence[str],
    constants: Mapping[str, Any] | None = None,
    opset: int = 17,
    **more: Any,
) -> ModelProto:
    """A model whose inputs are float32, and whose outputs have no shape."""
    graph = graph_of(nodes, inputs, outputs, constants)
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=9, **more)


def graph_of(
    nodes: Sequence[NodeProto],
    inputs: Mapping[str, Sequence[int | str]],
    outputs: Sequence[str],
    constants: Mapping[str, Any] | None = None,
) -> GraphProto:
    """The graph of such a model."""
    values = {
        name: value if isinstance(value, TensorProto) else numpy_helper.from_array(value, name)
        for name, value in (constants or {}).items()
    }
    return helper.make_graph(
        nodes,
        "test",
        [helper.make_tensor_value_info(name, FLOAT, shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info(name, FLOAT, None) for name in outputs],
        list(values.values()),
    )


def small_model() -> bytes:
    """The file of a small model with a weight, a shape, and operators of several families."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["product"], name="product"),
        helper.make_node("Reshape", ["product", "shape"], ["apart"]),
        helper.make_node("Softmax", ["apart"], ["y"], axis=-1),
    ]
    constants = {"w": floats(4, 6), "shape": np.array([0, 2, -1])}
    return model(nodes, {"x": [5, 4]}, ["y"], constants).SerializeToString()


def imported(proto: ModelProto, **sizes: int) -> Imported:
    """What the importer makes of a model."""
    return translate(checked_model(proto), sizes)


def floats(*shape: int, seed: int = 0) -> Any:
    """Normal numbers."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
