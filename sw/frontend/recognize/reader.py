"""What recognizers ask of a float graph."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.graph import FloatGraph, Node
from celosia.sw.frontend.nn.operators.operator import Array, Reach, TensorType
from celosia.sw.frontend.nn.operators.table import OPERATORS
from celosia.sw.rewriting.walk import Walk

__all__ = ["Reader"]


class Reader:
    """A graph with its producers, types and known values at hand."""

    def __init__(self, graph: FloatGraph):
        self.graph = graph
        self.types = graph.types()
        self._producers = graph.producers()
        self.nodes = Walk(graph.nodes, lambda node: node.origin or node.name)
        """For a rule that looks at each."""

    def producer(self, name: str, *ops: str) -> Node | None:
        """The node that computes a tensor, if its operator is among `ops` (any, if none)."""
        node = self._producers.get(name)
        return node if node is not None and (not ops or node.op in ops) else None

    def type(self, name: str) -> TensorType:
        """The type of a tensor."""
        return self.types[name]

    def value(self, name: str) -> Array | None:
        """The value of a constant."""
        return self.graph.constants.get(name)

    def scalar(self, name: str) -> float | None:
        """The one number of a constant that has only one, of any shape."""
        value = self.value(name)
        return None if value is None or value.size != 1 else float(value.reshape(()))

    def scaled(self, name: str) -> tuple[str, float] | None:
        """What a tensor is a known multiple of, and the factor: a `mul` or a `div` by a number."""
        node = self.producer(name, "mul", "div")
        if node is None:
            return None
        left, right = node.inputs
        number = self.scalar(right)
        if number is not None and self.type(left) == node.type:
            return left, (number if node.op == "mul" else 1 / number if number else 0.0)
        number = self.scalar(left)
        if node.op == "mul" and number is not None and self.type(right) == node.type:
            return right, number
        return None

    def view(self, name: str) -> Node | None:
        """The node of a tensor that is a view of its first operand."""
        node = self.producer(name)
        if node is None or OPERATORS[node.op].reach is not Reach.VIEW:
            return None
        if any(self.value(place) is None for place in node.inputs[1:]):
            return None
        return None if self.value(node.inputs[0]) is not None else node

    def order(self, name: str) -> Array | None:
        """The order that a tensor has the columns of another one in, each of them once."""
        node = self.view(name)
        if node is None or node.op != "gather":
            return None
        source, order = self.type(node.inputs[0]), self.value(node.inputs[1])
        if node.attributes["axis"] not in {-1, source.rank - 1} or order is None or order.ndim != 1:
            return None
        return order if np.array_equal(np.sort(order), range(source.shape[-1])) else None

    def chain(self, name: str) -> tuple[str, list[Node]]:
        """What a tensor is a view of, and the views, the last one last."""
        nodes: list[Node] = []
        while (node := self.view(name)) is not None:
            nodes.append(node)
            name = node.inputs[0]
        return name, nodes[::-1]

    def replay(self, builder: GraphBuilder, x: str, views: Sequence[Node]) -> str:
        """The same views of another tensor, in a graph that is being built."""
        for view in views:
            places = [builder.constant(self.value(name)) for name in view.inputs[1:]]
            attributes: dict[str, Any] = dict(view.attributes)
            x = builder.op(view.op, x, *places, **attributes)
        return x

    def between(self, root: str, operands: Sequence[str]) -> list[Node]:
        """The nodes that compute `root` from `operands` and constants, in order.

        Raises `KeyError` for an input of the graph that `root` depends on beside them.
        """
        needed, stop = {root}, {*operands, *self.graph.constants}
        found = []
        for node in reversed(self.graph.nodes):
            if node.name in needed and node.name not in stop:
                found.append(node)
                needed.update(node.inputs)
        for name in needed - stop:
            if name in self.graph.inputs:
                raise KeyError(name)
        return found[::-1]

    def given(self, operands: Sequence[str]) -> list[str]:
        """The operands, each once, without those that the other ones and constants compute."""
        found = list(dict.fromkeys(operands))
        for name in found[::-1] if len(found) > 1 else ():
            others = [other for other in found if other != name]
            if self.value(name) is None and self._computed(name, others):
                found = others
        return found

    def _computed(self, name: str, operands: Sequence[str]) -> bool:
        try:
            self.between(name, operands)
        except KeyError:
            return False
        return True

    def origins(self, name: str) -> set[str]:
        """The inputs of the graph that a tensor depends on."""
        needed = {name}
        for node in reversed(self.graph.nodes):
            if node.name in needed:
                needed.update(node.inputs)
        return needed & self.graph.inputs.keys()
