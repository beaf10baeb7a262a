"""What a float graph means: NumPy, node by node."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from celosia.sw.frontend.nn.graph import FloatGraph, Node
from celosia.sw.frontend.nn.operators.operator import Array, GraphError, TensorType
from celosia.sw.frontend.nn.operators.table import OPERATORS

__all__ = ["compute", "interpret"]

Observer = Callable[[str, Array], Any]
"""Told the name and the value of each tensor that a node computes."""


def interpret(
    graph: FloatGraph, inputs: Mapping[str, Array], observe: Observer | None = None
) -> dict[str, Array]:
    """The outputs of a verified `graph` by name.

    Tensors are dropped behind their last reader.  Raises `GraphError` for an input that is
    missing, unknown or of another type, and for a place outside of a tensor.
    """
    values = _checked(graph, inputs) | dict(graph.constants)
    left = Counter(name for node in graph.nodes for name in set(node.inputs))
    left.update(graph.outputs.values())
    for node in graph.nodes:
        value = compute(node, [values[name] for name in node.inputs])
        values[node.name] = value
        if observe is not None:
            observe(node.name, value)
        for name in set(node.inputs):
            left[name] -= 1
            if not left[name]:
                del values[name]
    return {name: values[value] for name, value in graph.outputs.items()}


def compute(node: Node, values: Sequence[Array]) -> Array:
    """What `node` computes from its operands.  Raises `GraphError` for a place outside of one."""
    try:
        # What overflows is infinite, and what has no value is NaN, as ONNX has it.
        with np.errstate(all="ignore"):
            found = np.asarray(OPERATORS[node.op].compute(values, node.attributes))
    except IndexError as error:
        raise GraphError(f"{node.name}: {error}") from None
    assert TensorType.of(found) == node.type, f"{node}: computed {TensorType.of(found)}"
    return found


def _checked(graph: FloatGraph, inputs: Mapping[str, Array]) -> dict[str, Array]:
    names = ", ".join(graph.inputs)
    for name in inputs:
        if name not in graph.inputs:
            raise GraphError(f"{name}: there is no such input; there are {names}")
    for name, kind in graph.inputs.items():
        if name not in inputs:
            raise GraphError(f"{name}: this input is missing; there are {names}")
        found = TensorType.of(np.asarray(inputs[name]))
        if found != kind:
            raise GraphError(f"{name}: this input is {found}, not {kind}")
    return {name: np.asarray(value) for name, value in inputs.items()}
