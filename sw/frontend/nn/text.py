"""Float graphs as MLIR's generic syntax, dialect ``nn``, and back.

A model of one product::

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
from collections.abc import Iterable, Iterator, Mapping
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
    "FloatPrinter",
    "FloatReader",
    "blank_constants",
    "body",
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
    printer = FloatPrinter(graph.types())
    inner = [
        *printer.given(graph.inputs, graph.constants),
        *map(printer.node, graph.nodes),
        printer.returned(graph.outputs),
    ]
    return Operation(name="nn.graph", attributes={"name": graph.name}, regions=(tuple(inner),))


class FloatPrinter:
    """Operations on tensors of these types, by the names of the tensors.

    Names of values begin with `prefix`.
    """

    def __init__(self, types: Mapping[str, TensorType], prefix: str = ""):
        self._types = types
        self._values: dict[str, str] = {}
        for name in types:
            value = name if VALUE_NAME.fullmatch(name) else str(len(self._values))
            self._values[name] = prefix + value

    def given(
        self, inputs: Iterable[str], constants: Iterable[str], prefix: str = ""
    ) -> Iterator[Operation]:
        """Inputs and constants; names of resources begin with `prefix`."""
        for name in inputs:
            yield self.define("nn.input", name, {})
        for name in constants:
            yield self.define("nn.constant", name, {"resource": prefix + name})

    def node(self, node: Node) -> Operation:
        """What a node computes."""
        attributes: dict[str, Attribute] = {"origin": node.origin} if node.origin else {}
        if node.attributes:
            attributes["with"] = dict(node.attributes)
        return self.define(_PREFIX + node.op, node.name, attributes, node.inputs)

    def returned(self, outputs: Mapping[str, str]) -> Operation:
        """The end: the tensor that each output is."""
        return Operation(
            name="nn.return",
            operands=tuple(self._values[name] for name in outputs.values()),
            operand_types=tuple(tensor_text(self._types[name]) for name in outputs.values()),
            attributes={"names": tuple(outputs)},
        )

    def define(
        self,
        op: str,
        name: str,
        attributes: Mapping[str, Attribute],
        operands: tuple[str, ...] = (),
    ) -> Operation:
        """An operation `op` that defines the tensor `name`."""
        return Operation(
            name=op,
            results=(self._values[name],),
            result_types=(tensor_text(self._types[name]),),
            operands=tuple(self._values[each] for each in operands),
            operand_types=tuple(tensor_text(self._types[each]) for each in operands),
            attributes={"name": name, **attributes},
        )


def parse_float_graph(text: str, constants: Mapping[str, Array]) -> FloatGraph:
    """The graph of a text, verified, with the values of its constants by name of resource.

    Raises `ValueError` that names line and column of what is wrong.
    """
    return float_graph_of(parse_operation(text), constants)


def float_graph_of(operation: Operation, constants: Mapping[str, Array]) -> FloatGraph:
    """The graph of an operation ``nn.graph``, as `parse_float_graph` reads it from a text."""
    return FloatReader(constants).graph(operation)


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


def body(top: Operation) -> tuple[tuple[Operation, ...], Operation]:
    """The operations of a region that ends with ``nn.return``, and that one.

    Raises `ValueError` for another end.
    """
    (region,) = top.regions
    if not region or region[-1].name != "nn.return":
        raise fail(top, "its last operation is not nn.return")
    return region[:-1], region[-1]


class FloatReader:
    """Tensors by the names of their values, and what operations so far have said of them."""

    def __init__(self, constants: Mapping[str, Array]):
        self._given = constants
        self._names: dict[str, str] = {}
        self._types: dict[str, TensorType] = {}
        self.inputs: dict[str, TensorType] = {}
        self.constants: dict[str, Array] = {}
        self.nodes: list[Node] = []

    def graph(self, top: Operation) -> FloatGraph:
        """The graph of an operation ``nn.graph``."""
        if top.name != "nn.graph" or len(top.regions) != 1:
            raise fail(top, f"nn.graph with one region is expected, not {top.name}")
        inner, last = body(top)
        for operation in inner:
            self.take(operation)
        return verify(
            FloatGraph(
                name=typed(top, top.attributes, "name", str),
                inputs=self.inputs,
                constants=self.constants,
                nodes=tuple(self.nodes),
                outputs=self.returned(last),
            )
        )

    def returned(self, last: Operation) -> dict[str, str]:
        """The tensor that each output is, of an operation ``nn.return``."""
        outputs = self._operands(last)
        names = last.attributes.get("names")
        named = isinstance(names, tuple) and all(isinstance(name, str) for name in names)
        if not isinstance(names, tuple) or not named or len(set(names)) != len(outputs):
            raise fail(last, f"names: {names} are no names of {len(outputs)} outputs")
        return dict(zip(map(str, names), outputs, strict=True))

    def take(self, operation: Operation) -> None:
        """Take an input, a constant or a node."""
        kind, name = self.define(operation)
        op = operation.name.removeprefix(_PREFIX)
        if operation.name == "nn.input":
            self.inputs[name] = kind
        elif operation.name == "nn.constant":
            resource = typed(operation, operation.attributes, "resource", str)
            if resource not in self._given:
                raise fail(operation, f"there is no value of resource {resource}")
            found = TensorType.of(self._given[resource])
            if found != kind:
                raise fail(operation, f"resource {resource} is {found}, not {kind}")
            self.constants[name] = self._given[resource]
        elif operation.name != _PREFIX + op or op not in OPERATORS:
            raise fail(operation, f"there is no operation {operation.name}")
        else:
            self.nodes.append(self._node(operation, op, name, kind))

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

    def define(self, operation: Operation) -> tuple[TensorType, str]:
        """Type and name of the tensor that an operation defines."""
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
