"""Float graphs as JSON, without what formats of a quantized model have: the weights of products."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from celosia.sw.frontend.nn.graph import FloatGraph, Node
from celosia.sw.frontend.nn.operators.operator import Array, TensorType, expect
from celosia.sw.frontend.nn.operators.table import OPERATORS
from celosia.sw.frontend.nn.verify import verify
from celosia.sw.quantize.graphs.files.saved_file import SavedFile
from celosia.sw.quantize.graphs.formats import Formats

__all__ = ["graph_document", "read_graph"]

_MOST_ELEMENTS: Final = 1 << 31
"""The most elements of a tensor: more are in no memory that a model is run in."""
_MOST_AXES: Final = 32


def graph_document(graph: FloatGraph, formats: Formats, saved: SavedFile) -> dict[str, Any]:
    """A graph behind `recognize` that has `formats`; arrays are stored in `saved`."""
    left = set(_weights(graph, formats))
    return {
        "name": graph.name,
        "inputs": {name: _kind(kind) for name, kind in graph.inputs.items()},
        "constants": {
            name: list(value.shape) if name in left else saved.store(value)
            for name, value in graph.constants.items()
        },
        "nodes": [_node(node) for node in graph.nodes],
        "outputs": dict(graph.outputs),
    }


def read_graph(found: Mapping[str, Any], formats: Formats, saved: SavedFile) -> FloatGraph:
    """The graph that a document has; the weights that only `formats` have are 0.

    Raises `GraphError` that names what is not well formed, or `LookupError`, `TypeError` and the
    like for what is of another kind altogether.
    """
    shapes = {linear.weights.shape for linear in formats.integers.values()}

    def constant(name: str, value: object) -> Array:
        if isinstance(value, str):
            return saved.array(value)
        shape = _shape(value)
        expect(shape in shapes, f"{name}: no product has weights of {shape}")
        return np.broadcast_to(np.zeros((), np.float32), shape)

    for name, tensor in found["outputs"].items():
        expect(isinstance(tensor, str), f"output {name}: {tensor!r} is no tensor")
    graph = verify(
        FloatGraph(
            name=_text(found["name"]),
            inputs={name: _type(kind) for name, kind in found["inputs"].items()},
            constants={name: constant(name, value) for name, value in found["constants"].items()},
            nodes=tuple(map(_read_node, found["nodes"])),
            outputs=dict(found["outputs"]),
        )
    )
    for name, kind in graph.types().items():
        expect(kind.size <= _MOST_ELEMENTS, f"{name}: it has {kind.size:,} elements")
    return graph


def _weights(graph: FloatGraph, formats: Formats) -> Iterator[str]:
    """The constants that are the weights of quantized products, and nothing else."""
    readers, outputs = graph.readers(), set(graph.outputs.values())
    shapes = {linear.weights.shape for linear in formats.integers.values()}
    for name, value in graph.constants.items():
        products = [node.op == "matmul" and node.inputs[0] != name for node in readers[name]]
        known = value.dtype == np.float32 and value.shape in shapes
        if known and products and all(products) and name not in outputs:
            yield name


def _kind(kind: TensorType) -> list[Any]:
    return [kind.dtype, list(kind.shape)]


def _type(found: object) -> TensorType:
    expect(isinstance(found, list) and len(found) == 2, f"{found!r} is no type of tensors")
    assert isinstance(found, list)
    return TensorType(_text(found[0]), _shape(found[1]))


def _shape(found: object) -> tuple[int, ...]:
    expect(isinstance(found, list), f"{found!r} is no shape")
    sizes: tuple[Any, ...] = tuple(found) if isinstance(found, list) else ()
    whole = all(type(size) is int and size >= 0 for size in sizes)
    expect(whole and len(sizes) <= _MOST_AXES, f"{found!r} is no shape")
    return sizes


def _text(found: object) -> str:
    expect(isinstance(found, str), f"{found!r} is no text")
    return str(found)


def _node(node: Node) -> dict[str, Any]:
    return {
        "name": node.name,
        "op": node.op,
        "inputs": list(node.inputs),
        "attributes": dict(node.attributes),
        "type": _kind(node.type),
        "origin": node.origin,
    }


def _read_node(found: Mapping[str, Any]) -> Node:
    op = _text(found["op"])
    expect(op in OPERATORS, f"{found['name']}: there is no operator {op!r}")
    return Node(
        name=_text(found["name"]),
        op=op,
        inputs=tuple(map(_text, found["inputs"])),
        attributes={
            name: tuple(value) if isinstance(value, list) else value
            for name, value in found["attributes"].items()
        },
        type=_type(found["type"]),
        origin=_text(found["origin"]),
    )
