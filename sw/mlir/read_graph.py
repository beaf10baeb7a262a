"""Dialect ``cel`` of MLIR's generic syntax to integer graphs."""

import re
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.encoding import WeightType
from celosia.sw.ir.graph import Graph, Op, Tensor, View
from celosia.sw.ir.graph_verify import verify
from celosia.sw.mlir.fields import build, fail, typed
from celosia.sw.mlir.names import ELEMENTS, OPERATORS, memref
from celosia.sw.mlir.operation import Operation
from celosia.sw.mlir.parser import parse_operation

__all__ = ["blank_constants", "graph_of", "parse_graph"]

_TYPES: Final = {element: name for name, element in ELEMENTS.items()}
_MEMREF: Final = re.compile(r"memref<(\d{1,9})x(\d{1,9})x(\w+)>")


def parse_graph(text: str, constants: Mapping[str, NDArray[Any]]) -> Graph:
    """The graph of a text, verified, with the values of its constants by name of resource.

    Raises `ValueError` that names line and column of what is wrong.
    """
    return graph_of(parse_operation(text), constants)


def graph_of(operation: Operation, constants: Mapping[str, NDArray[Any]]) -> Graph:
    """The graph of an operation ``cel.graph``, as `parse_graph` reads it from a text."""
    return _Reader(operation, constants).graph()


def blank_constants(operation: Operation) -> dict[str, NDArray[Any]]:
    """Zeros for all constants of an operation ``cel.graph``, by name of resource.

    What is no constant of a known type is left out: reading the graph says what is wrong with it.
    """
    found: dict[str, NDArray[Any]] = {}
    for region in operation.regions:
        for each in region:
            kind = _MEMREF.fullmatch("".join(each.result_types[:1]))
            if each.name == "cel.constant" and kind is not None and kind[3] in _TYPES:
                shape = int(kind[1]), int(kind[2])
                zero = np.zeros((1, 1), _TYPES[kind[3]])
                found[str(each.attributes.get("resource"))] = np.broadcast_to(zero, shape)
    return found


def _packing(operation: Operation) -> WeightType:
    """The type of a tensor's weights in memory."""
    values = operation.attributes
    word = typed(operation, values, "packing", str) if "packing" in values else "int8"
    known = {kind.name.lower(): kind for kind in WeightType}
    if word not in known:
        raise fail(operation, f"packing: {word!r} is none of {', '.join(known)}")
    return known[word]


class _Reader:
    """Tensors and views by the names of their values."""

    def __init__(self, operation: Operation, constants: Mapping[str, NDArray[Any]]):
        self._operation = operation
        self._given = constants
        self._tensors: dict[str, Tensor] = {}
        self._constants: dict[str, NDArray[Any]] = {}
        self._views: dict[str, View] = {}
        self._ops: list[Op] = []
        self._outputs: tuple[str, ...] | None = None

    def graph(self) -> Graph:
        top = self._operation
        if top.name != "cel.graph" or len(top.regions) != 1:
            raise fail(top, f"cel.graph with one region is expected, not {top.name}")
        for operation in top.regions[0]:
            if self._outputs is not None:
                raise fail(operation, "nothing may follow cel.return")
            self._take(operation)
        if self._outputs is None:
            raise fail(top, "its last operation is not cel.return")
        inputs = top.attributes.get("inputs", ())
        if not isinstance(inputs, tuple) or not all(name in self._tensors for name in inputs):
            raise fail(top, f"inputs: {inputs} are no list of names of tensors")
        graph = Graph(
            name=typed(top, top.attributes, "name", str),
            tensors=self._tensors,
            inputs=tuple(map(str, inputs)),
            outputs=self._outputs,
            ops=tuple(self._ops),
            constants=self._constants,
        )
        return verify(graph)

    def _take(self, operation: Operation) -> None:
        match operation.name:
            case "cel.tensor" | "cel.constant":
                self._tensor(operation)
            case "cel.view":
                self._view(operation)
            case "cel.return":
                views = self._operands(operation)
                if any(self._tensors[view.tensor].view() != view for view in views):
                    raise fail(operation, "an output is no whole tensor")
                self._outputs = tuple(view.tensor for view in views)
            case name if name in OPERATORS:
                self._operator(operation, OPERATORS[name])
            case name:
                raise fail(operation, f"there is no operation {name}")

    def _define(self, operation: Operation, view: View) -> None:
        if len(operation.results) != 1:
            raise fail(operation, f"it has {len(operation.results)} results, not 1")
        (value,) = operation.results
        if value in self._views:
            raise fail(operation, f"%{value} is defined a second time")
        self._views[value] = view

    def _shape(self, operation: Operation) -> tuple[int, int, str]:
        text = "".join(operation.result_types[:1])
        found = _MEMREF.fullmatch(text)
        if found is None or found[3] not in _TYPES:
            known = ", ".join(_TYPES)
            raise fail(operation, f"type {text!r} is no memref<ROWSxCOLSxELEMENT> of {known}")
        return int(found[1]), int(found[2]), _TYPES[found[3]]

    def _tensor(self, operation: Operation) -> None:
        values = operation.attributes
        name = typed(operation, values, "name", str)
        rows, cols, kind = self._shape(operation)
        step = typed(operation, values, "step", float) if "step" in values else None
        zero = typed(operation, values, "zero_point", int) if "zero_point" in values else 0
        cache, scratch = (
            typed(operation, values, key, bool) if key in values else False
            for key in ("cache", "scratch")
        )
        if name in self._tensors:
            raise fail(operation, f"there is another tensor {name}")
        if operation.name == "cel.constant":
            resource = typed(operation, values, "resource", str)
            if resource not in self._given:
                raise fail(operation, f"there is no value of resource {resource}")
            value = self._given[resource]
            if (value.shape, str(value.dtype)) != ((rows, cols), kind):
                text = f"{value.dtype} of {value.shape}"
                raise fail(operation, f"resource {resource} is {text}, not {kind}")
            self._constants[name] = value
        self._tensors[name] = Tensor(
            name, kind, rows, cols, step, zero, cache, scratch, packing=_packing(operation)
        )
        self._define(operation, self._tensors[name].view())

    def _view(self, operation: Operation) -> None:
        sources = self._operands(operation)
        if len(sources) != 1:
            raise fail(operation, f"it has {len(sources)} operands, not 1")
        whole, (rows, cols, kind) = sources[0], self._shape(operation)
        row, col = (typed(operation, operation.attributes, key, int) for key in ("row", "col"))
        view = whole.part(row=row, rows=rows, col=col, cols=cols)
        if kind != self._tensors[whole.tensor].type:
            raise fail(operation, f"{view} is not of type {kind}")
        if min(row, col) < 0 or row + rows > whole.rows or col + cols > whole.cols:
            raise fail(operation, f"{view} is not inside of {whole}")
        self._define(operation, view)

    def _operands(self, operation: Operation) -> tuple[View, ...]:
        for value, kind in zip(operation.operands, operation.operand_types, strict=True):
            view = self._views.get(value)
            if view is None:
                raise fail(operation, f"%{value} is not defined before it is used")
            known = memref(view.rows, view.cols, self._tensors[view.tensor].type)
            if kind != known:
                raise fail(operation, f"%{value} is {known}, not {kind}")
        return tuple(self._views[value] for value in operation.operands)

    def _operator(self, operation: Operation, kind: type) -> None:
        views, roles = self._operands(operation), operation.attributes.get("roles")
        if not isinstance(roles, tuple) or len(roles) != len(views):
            raise fail(operation, f"roles: {roles} do not name each of {len(views)} operands")
        by_role = dict(zip(map(str, roles), views, strict=True))
        values = {name: v for name, v in operation.attributes.items() if name != "roles"}
        self._ops.append(build(operation, kind, values, by_role))
        if by_role:
            raise fail(operation, f"roles: {', '.join(by_role)} are none of {operation.name}")
