"""Float graphs as MLIR's generic syntax, dialect ``nn``, and back.

    "nn.graph"() ({
      %x = "nn.input"() {name = "x"} : () -> tensor<4x8xf32>
      %w = "nn.constant"() {name = "w", resource = "w"} : () -> tensor<8x3xf32>
      %y = "nn.matmul"(%x, %w) {name = "y", origin = "/dense (MatMul)"}
        : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
      "nn.return"(%y) {names = ["logits"]} : (tensor<4x3xf32>) -> ()
    }) {name = "model"} : () -> ()

An operator's attributes are in a dictionary of their own, ``with``.  Values of constants are not
in the text.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np

from celosia.sw.frontend.nn.graph import FloatGraph, Node
from celosia.sw.frontend.nn.operators.operator import Array, TensorType
from celosia.sw.frontend.nn.operators.table import OPERATORS
from celosia.sw.frontend.nn.verify import verify
from celosia.sw.mlir.fields import fail, typed
from celosia.sw.mlir.names import ELEMENTS
from celosia.sw.mlir.operation import VALUE_NAME, Attribute, Operation, print_operation
from celosia.sw.mlir.parser import parse_operation

__all__ = [
    "blank_constants",
    "float_graph_of",
    "float_graph_operation",
    "parse_float_graph",
    "print_float_graph",
    "tensor_of",
    "tensor_text",
]

_ELEMENTS: Final = {
    **ELEMENTS,
    "uint16": "ui16",
    "uint32": "ui32",
    "int64": "si64",
    "uint64": "ui64",
    "float64": "f64",
    "bool": "i1",
}
_TYPES: Final = {element: name for name, element in _ELEMENTS.items()}
_TENSOR: Final = re.compile(r"tensor<((?:\d{1,18}x)*)(\w+)>", re.ASCII)
_PREFIX: Final = "nn."


def tensor_text(kind: TensorType) -> str:
    """MLIR's text of a type."""
    return f"tensor<{''.join(f'{size}x' for size in kind.shape)}{_ELEMENTS[kind.dtype]}>"


def tensor_of(text: str) -> TensorType | None:
    """The type that a text of MLIR is; None for one that float graphs do not have."""
    found = _TENSOR.fullmatch(text)
    if found is None or found[2] not in _TYPES:
        return None
    return TensorType(_TYPES[found[2]], tuple(map(int, found[1].split("x")[:-1])))


def print_float_graph(graph: FloatGraph) -> str:
    """The text of a verified `graph`; the same for equal graphs."""
    return print_operation(float_graph_operation(graph))


def float_graph_operation(graph: FloatGraph) -> Operation:
    """A verified `graph` as an operation ``nn.graph``."""
    types = graph.types()
    values: dict[str, str] = {}
    for name in types:
        values[name] = name if VALUE_NAME.fullmatch(name) else str(len(values))

    def described() -> Iterator[Operation]:
        for name in graph.inputs:
            yield define("nn.input", name, {})
        for name in graph.constants:
            yield define("nn.constant", name, {"resource": name})
        for node in graph.nodes:
            attributes: dict[str, Attribute] = {"origin": node.origin} if node.origin else {}
            if node.attributes:
                attributes["with"] = dict(node.attributes)
            yield define(_PREFIX + node.op, node.name, attributes, node.inputs)
        yield Operation(
            name="nn.return",
            operands=tuple(values[name] for name in graph.outputs.values()),
            operand_types=tuple(tensor_text(types[name]) for name in graph.outputs.values()),
            attributes={"names": tuple(graph.outputs)},
        )

    def define(
        op: str, name: str, attributes: Mapping[str, Attribute], operands: tuple[str, ...] = ()
    ) -> Operation:
        return Operation(
            name=op,
            results=(values[name],),
            result_types=(tensor_text(types[name]),),
            operands=tuple(values[each] for each in operands),
            operand_types=tuple(tensor_text(types[each]) for each in operands),
            attributes={"name": name, **attributes},
        )

    top: dict[str, Attribute] = {"name": graph.name}
    return Operation(name="nn.graph", attributes=top, regions=(tuple(described()),))


def parse_float_graph(text: str, constants: Mapping[str, Array]) -> FloatGraph:
    """The graph of a text, verified, with the values of its constants by name of resource.

    Raises `ValueError` that names line and column of what is wrong.
    """
    return float_graph_of(parse_operation(text), constants)


def float_graph_of(operation: Operation, constants: Mapping[str, Array]) -> FloatGraph:
    """The graph of an operation ``nn.graph``, as `parse_float_graph` reads it from a text."""
    return _Reader(constants).graph(operation)


def blank_constants(operation: Operation) -> dict[str, Array]:
    """Zeros for all constants of an operation ``nn.graph``, by name of resource.

    What is no constant of a known type is left out: reading the graph says what is wrong with it.
    """
    found: dict[str, Array] = {}
    for region in operation.regions:
        for each in region:
            kind = tensor_of("".join(each.result_types[:1]))
            if each.name == "nn.constant" and kind is not None:
                zero = np.zeros((), kind.dtype)
                found[str(each.attributes.get("resource"))] = np.broadcast_to(zero, kind.shape)
    return found


class _Reader:
    """Tensors by the names of their values."""

    def __init__(self, constants: Mapping[str, Array]):
        self._given = constants
        self._names: dict[str, str] = {}
        self._types: dict[str, TensorType] = {}
        self._inputs: dict[str, TensorType] = {}
        self._constants: dict[str, Array] = {}
        self._nodes: list[Node] = []

    def graph(self, top: Operation) -> FloatGraph:
        if top.name != "nn.graph" or len(top.regions) != 1:
            raise fail(top, f"nn.graph with one region is expected, not {top.name}")
        if not top.regions[0] or top.regions[0][-1].name != "nn.return":
            raise fail(top, "its last operation is not nn.return")
        *inner, last = top.regions[0]
        for operation in inner:
            self._take(operation)
        outputs = self._operands(last)
        names = last.attributes.get("names")
        named = isinstance(names, tuple) and all(isinstance(name, str) for name in names)
        if not isinstance(names, tuple) or not named or len(set(names)) != len(outputs):
            raise fail(last, f"names: {names} are no names of {len(outputs)} outputs")
        return verify(
            FloatGraph(
                name=typed(top, top.attributes, "name", str),
                inputs=self._inputs,
                constants=self._constants,
                nodes=tuple(self._nodes),
                outputs=dict(zip(map(str, names), outputs, strict=True)),
            )
        )

    def _take(self, operation: Operation) -> None:
        kind, name = self._define(operation)
        op = operation.name.removeprefix(_PREFIX)
        if operation.name == "nn.input":
            self._inputs[name] = kind
        elif operation.name == "nn.constant":
            resource = typed(operation, operation.attributes, "resource", str)
            if resource not in self._given:
                raise fail(operation, f"there is no value of resource {resource}")
            found = TensorType.of(self._given[resource])
            if found != kind:
                raise fail(operation, f"resource {resource} is {found}, not {kind}")
            self._constants[name] = self._given[resource]
        elif operation.name != _PREFIX + op or op not in OPERATORS:
            raise fail(operation, f"there is no operation {operation.name}")
        else:
            self._nodes.append(self._node(operation, op, name, kind))

    def _node(self, operation: Operation, op: str, name: str, kind: TensorType) -> Node:
        attributes = operation.attributes.get("with", {})
        if not isinstance(attributes, Mapping):
            raise fail(operation, f"with: {attributes!r} is no dictionary")
        origin = "origin" in operation.attributes
        return Node(
            name=name,
            op=op,
            inputs=self._operands(operation),
            attributes=attributes,
            type=kind,
            origin=typed(operation, operation.attributes, "origin", str) if origin else "",
        )

    def _define(self, operation: Operation) -> tuple[TensorType, str]:
        if len(operation.results) != 1:
            raise fail(operation, f"it has {len(operation.results)} results, not 1")
        text = operation.result_types[0]
        kind = tensor_of(text)
        if kind is None:
            known = ", ".join(_TYPES)
            raise fail(operation, f"type {text!r} is no tensor<SIZESxELEMENT> of {known}")
        name, (value,) = typed(operation, operation.attributes, "name", str), operation.results
        if value in self._names:
            raise fail(operation, f"%{value} is defined a second time")
        if name in self._types:
            raise fail(operation, f"there is another tensor {name}")
        self._types[name] = kind
        self._names[value] = name
        return kind, name

    def _operands(self, operation: Operation) -> tuple[str, ...]:
        for value, kind in zip(operation.operands, operation.operand_types, strict=True):
            if value not in self._names:
                raise fail(operation, f"%{value} is not defined before it is used")
            known = tensor_text(self._types[self._names[value]])
            if kind != known:
                raise fail(operation, f"%{value} is {known}, not {kind}")
        return tuple(self._names[value] for value in operation.operands)
