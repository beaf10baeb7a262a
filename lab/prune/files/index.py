"""An ONNX graph by its tensors, and constants of it that can be cut."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from onnx import AttributeProto, GraphProto, NodeProto, TensorProto, numpy_helper

from celosia.sw.frontend.importer.handlers.activations import ACTIVATIONS
from celosia.sw.frontend.importer.handlers.elementwise import ELEMENTWISE

__all__ = ["BY_COLUMN", "PRODUCTS", "Cut", "Index"]

PRODUCTS: Final = frozenset({"MatMul", "Gemm"})
"""Operators that are products."""
_ALONG_ROWS: Final = frozenset({"Softmax", "LogSoftmax", "Hardmax"})
_FUSED: Final = frozenset({"BiasAdd", "BiasGelu", "FastGelu", "QuickGelu"})
BY_COLUMN: Final = frozenset(ELEMENTWISE) | (frozenset(ACTIVATIONS) - _ALONG_ROWS) | _FUSED
"""Operators, with those of ONNX Runtime, that compute each element from those at its place."""


@dataclass(frozen=True, eq=False)
class Cut:
    """A constant of the file, and the axis of it that the channels are."""

    tensor: TensorProto
    axis: int

    @property
    def values(self) -> NDArray[Any]:
        """What it has now."""
        return numpy_helper.to_array(self.tensor)

    def set(self, values: NDArray[Any]) -> None:
        """Put others there, of the type that it has."""
        kind = self.values.dtype
        self.tensor.CopyFrom(numpy_helper.from_array(values.astype(kind), self.tensor.name))

    def keep(self, kept: NDArray[np.intp]) -> None:
        """Leave these channels."""
        self.set(np.take(self.values, kept, axis=self.axis))


class Index:
    """A graph by its tensors: which node makes each, how many read it, and which are constants."""

    def __init__(self, graph: GraphProto):
        self.made = {name: node for node in graph.node for name in node.output if name}
        self.reads = Counter(_read(graph.node))
        self.reads.update(each.name for each in graph.output)
        self.constants = {each.name: each for each in graph.initializer}
        for node in graph.node:
            if node.op_type == "Constant" and node.attribute[0].name == "value":
                self.constants[node.output[0]] = node.attribute[0].t

    def alone(self, name: str) -> bool:
        """Whether one node reads the tensor, once, and nobody else sees it."""
        return self.reads[name] == 1

    def matrix(self, name: str, axis: int) -> Cut | None:
        """The constant matrix of this name, or what it is the transpose of."""
        while name not in self.constants:
            node = self.made.get(name)
            if node is None or node.op_type not in {"Transpose", "Identity"}:
                return None
            if not self.alone(name):
                return None
            if node.op_type == "Transpose":
                axis = 1 - axis
            name = node.input[0]
        tensor = self.constants[name]
        real = tensor.data_type in {TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE}
        return Cut(tensor, axis) if real and len(tensor.dims) == 2 and self.alone(name) else None

    def factors(self, node: NodeProto) -> tuple[Cut, Cut] | None:
        """A product's matrix by its inputs, and by its outputs; None: it is none of a constant."""
        flags = {each.name: each.i for each in node.attribute}
        if node.op_type not in PRODUCTS or flags.get("transA"):
            return None
        turned = 1 if flags.get("transB") else 0
        inputs = self.matrix(node.input[1], turned)
        return None if inputs is None else (inputs, Cut(inputs.tensor, 1 - inputs.axis))

    def vector(self, name: str, width: int) -> Cut | None:
        """The constant with one element for each of so many channels of this name."""
        tensor = self.constants.get(name)
        if tensor is None or not self.alone(name):
            return None
        *others, last = tensor.dims or (0,)
        return Cut(tensor, len(others)) if last == width and set(others) <= {1} else None

    def single(self, name: str) -> bool:
        """Whether it is one constant number."""
        tensor = self.constants.get(name)
        return tensor is not None and all(size == 1 for size in tensor.dims)

    def shape(self, node: NodeProto, width: int) -> TensorProto | None:
        """The constant that has so many channels as the last number of a Reshape's shape."""
        name = node.input[1]
        while name not in self.constants:
            made = self.made.get(name)
            if made is None or made.op_type != "Concat" or not self.alone(name):
                return None
            name = made.input[-1]
        tensor = self.constants[name]
        sizes = numpy_helper.to_array(tensor)
        fits = sizes.ndim == 1 and sizes.size and sizes[-1] == width
        return tensor if fits and self.alone(name) else None

    def keeps(self, node: NodeProto) -> bool:
        """Whether the last number of a Reshape's shape is, in the file, that of its operand."""
        made = self.made.get(node.input[1])
        if made is None or made.op_type != "Concat":
            return False
        name = made.input[-1]
        while (made := self.made.get(name)) and made.op_type in {"Squeeze", "Unsqueeze", "Cast"}:
            name = made.input[0]
        if made is None or made.op_type not in {"Gather", "Slice"}:
            return False
        place, sizes = self.constants.get(made.input[1]), self.made.get(made.input[0])
        last = place is not None and (numpy_helper.to_array(place) == -1).all()
        return bool(last and sizes and sizes.op_type == "Shape" and sizes.input[0] == node.input[0])

    def bias(self, node: NodeProto, width: int) -> Cut | None:
        """The vector that is added to what a product gives; None: there is none that is its own."""
        factors = {each.name: each.f for each in node.attribute}
        if len(node.input) > 2:
            whole = factors.get("alpha", 1.0) == factors.get("beta", 1.0) == 1.0
            return self.vector(node.input[2], width) if whole else None
        (name,) = node.output
        if not self.alone(name):
            return None
        for each in self.made.values():
            if each.op_type == "Add" and name in each.input:
                (other,) = [one for one in each.input if one != name] or [name]
                return self.vector(other, width)
        return None


def _read(nodes: Sequence[NodeProto]) -> Iterator[str]:
    """What nodes read, those of their bodies included; sizes may be read of anything."""
    for node in nodes:
        yield from node.input if node.op_type != "Shape" else ()
        for attribute in node.attribute:
            bodies = [attribute.g] if attribute.type == AttributeProto.GRAPH else attribute.graphs
            for body in bodies:
                yield from _read(body.node)
                yield from (each.name for each in body.output)
