"""Integer graphs to MLIR's generic syntax, dialect ``cel``.

Tensors are values of memref types, in the order of the graph; views of them are operations.  Every
operator of the graph is an operation without results.  ``roles`` says what each operand is, by the
names of the fields of the operator; other fields are attributes.
"""

from collections.abc import Iterator
from typing import Final

from celosia.isa.encoding import WeightType
from celosia.sw.ir.graph import Graph, Op, Tensor, View
from celosia.sw.mlir.fields import described
from celosia.sw.mlir.names import OPERATORS, memref
from celosia.sw.mlir.operation import VALUE_NAME, Attribute, Operation, print_operation

__all__ = ["graph_operation", "print_graph"]

_NAMES: Final = {kind: name for name, kind in OPERATORS.items()}


def print_graph(graph: Graph) -> str:
    """The text of a verified `graph`; the same for equal graphs."""
    return print_operation(graph_operation(graph))


def graph_operation(graph: Graph, prefix: str = "") -> Operation:
    """A verified `graph` as an operation ``cel.graph``; names of resources begin with `prefix`."""
    return _Printer(graph, prefix).operation()


class _Printer:
    """Names of the values so far."""

    def __init__(self, graph: Graph, prefix: str):
        self._graph = graph
        self._prefix = prefix
        self._values: dict[View, str] = {}

    def operation(self) -> Operation:
        graph = self._graph
        inner = [self._tensor(tensor) for tensor in graph.tensors.values()]
        for op in graph.ops:
            inner += self._operator(op)
        names = tuple(self._values[graph.tensors[name].view()] for name in graph.outputs)
        types = tuple(self._type(graph.tensors[name].view()) for name in graph.outputs)
        inner.append(Operation(name="cel.return", operands=names, operand_types=types))
        attributes: dict[str, Attribute] = {"name": graph.name, "inputs": graph.inputs}
        return Operation(name="cel.graph", attributes=attributes, regions=(tuple(inner),))

    def _named(self, view: View, name: str) -> str:
        """`name` for the value of `view`, or a number if MLIR has no such names of values."""
        value = name if VALUE_NAME.fullmatch(name) else str(len(self._values))
        self._values[view] = value
        return value

    def _type(self, view: View) -> str:
        return memref(view.rows, view.cols, self._graph.tensors[view.tensor].type)

    def _tensor(self, tensor: Tensor) -> Operation:
        attributes: dict[str, Attribute] = {"name": tensor.name}
        if tensor.step is not None:
            attributes["step"] = float(tensor.step)
        if tensor.zero_point:
            attributes["zero_point"] = tensor.zero_point
        if tensor.cache:
            attributes["cache"] = True
        if tensor.scratch:
            attributes["scratch"] = True
        if tensor.packing is not WeightType.INT8:
            attributes["packing"] = tensor.packing.name.lower()
        constant = tensor.name in self._graph.constants
        if constant:
            attributes["resource"] = self._prefix + tensor.name
        return Operation(
            name="cel.constant" if constant else "cel.tensor",
            results=(self._named(tensor.view(), tensor.name),),
            result_types=(self._type(tensor.view()),),
            attributes=attributes,
        )

    def _operator(self, op: Op) -> Iterator[Operation]:
        """`op`, behind those of its views that are new."""
        views: dict[str, View] = {}
        attributes = dict(described(op, "", views))
        for view in views.values():
            if view not in self._values:
                whole = self._graph.tensors[view.tensor].view()
                yield Operation(
                    name="cel.view",
                    results=(self._named(view, ""),),
                    result_types=(self._type(view),),
                    operands=(self._values[whole],),
                    operand_types=(self._type(whole),),
                    attributes={"row": view.row, "col": view.col},
                )
        yield Operation(
            name=_NAMES[type(op)],
            operands=tuple(self._values[view] for view in views.values()),
            operand_types=tuple(map(self._type, views.values())),
            attributes={**attributes, "roles": tuple(views)},
        )
