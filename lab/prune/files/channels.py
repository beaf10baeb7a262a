"""Hidden channels of ONNX models: the matrices that make them, and the one that reads them.

Channels can go if all that is between computes each of them from itself alone: biases, activations,
gates.  So they are found by walking back from each product, whatever the file calls them.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from onnx import AttributeProto, GraphProto, NodeProto, TensorProto, numpy_helper

from celosia.sw.frontend.importer.handlers.activations import ACTIVATIONS
from celosia.sw.frontend.importer.handlers.elementwise import ELEMENTWISE
from celosia.sw.frontend.importer.source.scope import node_label

__all__ = ["Cut", "Hidden", "NoChannelsError", "find_hidden"]

_PRODUCTS: Final = frozenset({"MatMul", "Gemm"})
_ALONG_ROWS: Final = frozenset({"Softmax", "LogSoftmax", "Hardmax"})
_FUSED: Final = frozenset({"BiasAdd", "BiasGelu", "FastGelu", "QuickGelu"})
_BY_COLUMN: Final = frozenset(ELEMENTWISE) | (frozenset(ACTIVATIONS) - _ALONG_ROWS) | _FUSED
"""Operators, with those of ONNX Runtime, that compute each element from those at its place."""


class NoChannelsError(ValueError):
    """What a product reads is no hidden channels."""


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


@dataclass(frozen=True, eq=False, kw_only=True)
class Hidden:
    """Channels that some products make and one reads."""

    name: str
    """The node that reads them, as messages call it."""
    source: str
    """The tensor that it reads: (..., channels)."""
    width: int
    makers: Sequence[Cut]
    """Matrices whose outputs the channels are."""
    vectors: Sequence[Cut]
    """What has an element for each channel: biases, for example."""
    reader: Cut
    """The matrix that reads them."""
    bias: Cut | None
    """What is added to what the reader gives, if that is one vector."""
    shapes: Sequence[TensorProto]
    """Shapes on the way whose last number is the channels."""
    tensors: frozenset[str]
    """All on the way: what the file says of their types is true no more."""

    def keep(self, kept: NDArray[np.intp]) -> None:
        """Leave these channels."""
        for cut in (*self.makers, *self.vectors, self.reader):
            cut.keep(kept)
        for each in self.shapes:
            sizes = numpy_helper.to_array(each).copy()
            sizes[-1] = len(kept)
            each.CopyFrom(numpy_helper.from_array(sizes, each.name))


def find_hidden(graph: GraphProto) -> tuple[list[Hidden], dict[str, str]]:
    """The hidden channels of feed-forward networks, and why other products read none.

    They are more than what goes into the products that make them, and more than what comes out of
    the one that reads them.
    """
    index, found, reasons = _Index(graph), [], {}
    for node in graph.node:
        if node.op_type in _PRODUCTS:
            try:
                found.append(_hidden(node, index))
            except NoChannelsError as reason:
                reasons[node_label(node)] = str(reason)
    return found, reasons


class _Index:
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
        if node.op_type not in _PRODUCTS or flags.get("transA"):
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


def _read(nodes: Sequence[NodeProto]) -> Iterator[str]:
    """What nodes read, those of their bodies included; sizes may be read of anything."""
    for node in nodes:
        yield from node.input if node.op_type != "Shape" else ()
        for attribute in node.attribute:
            bodies = [attribute.g] if attribute.type == AttributeProto.GRAPH else attribute.graphs
            for body in bodies:
                yield from _read(body.node)
                yield from (each.name for each in body.output)


def _hidden(node: NodeProto, index: _Index) -> Hidden:
    """The channels that a product reads.  Raises `NoChannelsError`."""
    factors = index.factors(node)
    if factors is None:
        raise NoChannelsError("it is no product of one constant matrix that it has for itself")
    reader, results = factors
    width, outputs = (int(cut.tensor.dims[cut.axis]) for cut in factors)
    walk = _Walk(index, width)
    walk.back(node.input[0], node)
    if not walk.makers:
        raise NoChannelsError("no product of a constant matrix makes what it reads")
    widest = max(int(each.tensor.dims[1 - each.axis]) for each in walk.makers)
    if width <= max(widest, outputs):
        raise NoChannelsError(f"{widest} to {width} to {outputs} columns is no hidden width")
    return Hidden(
        name=node_label(node),
        source=node.input[0],
        width=width,
        makers=walk.makers,
        vectors=walk.vectors,
        reader=reader,
        bias=_bias(node, int(results.tensor.dims[results.axis]), index),
        shapes=walk.shapes,
        tensors=frozenset(walk.tensors),
    )


class _Walk:
    """The way from a product's operand back to the products that make its columns."""

    def __init__(self, index: _Index, width: int):
        self.index, self.width = index, width
        self.makers: list[Cut] = []
        self.vectors: list[Cut] = []
        self.shapes: list[TensorProto] = []
        self.tensors: dict[str, int] = {}
        """How often each tensor is read by nodes on the way."""

    def back(self, first: str, reader: NodeProto) -> None:
        """Walk from what `reader` reads.  Raises `NoChannelsError`."""
        self.tensors[first] = 1
        left = [first]
        while left:
            name = left.pop()
            node = self.index.made.get(name)
            if node is None:
                raise NoChannelsError(f"{name} is no result of a node")
            for each in self._operands(node):
                self.tensors[each] = self.tensors.get(each, 0) + 1
                if self.tensors[each] == 1:
                    left.append(each)
        for name, count in self.tensors.items():
            if self.index.reads[name] != count:
                raise NoChannelsError(f"{name} is read by others, too")

    def _operands(self, node: NodeProto) -> Iterator[str]:
        """What `node` makes channels from that has channels, too."""
        factors = self.index.factors(node)
        if factors is not None:
            self._make(factors[1], node)
        elif node.op_type == "Reshape":
            tensor = self.index.shape(node, self.width)
            if tensor is None and not self.index.keeps(node):
                raise NoChannelsError(f"{node_label(node)}: its columns are not the channels")
            self.shapes += [] if tensor is None else [tensor]
            yield node.input[0]
        elif node.op_type in _BY_COLUMN:
            for each in filter(None, node.input):
                vector = self.index.vector(each, self.width)
                if vector is not None:
                    self.vectors.append(vector)
                elif not self.index.single(each):
                    yield each
        else:
            raise NoChannelsError(f"{node_label(node)} is between")

    def _make(self, matrix: Cut, node: NodeProto) -> None:
        if matrix.tensor.dims[matrix.axis] != self.width:
            raise NoChannelsError(f"{node_label(node)}: its columns are not the channels")
        self.makers.append(matrix)
        for each in filter(None, node.input[2:]):
            vector = self.index.vector(each, self.width)
            if vector is None and not self.index.single(each):
                raise NoChannelsError(f"{node_label(node)}: what it adds is no vector of its own")
            self.vectors += [] if vector is None else [vector]


def _bias(node: NodeProto, width: int, index: _Index) -> Cut | None:
    """The vector that is added to what a product gives; None: there is none that is its own."""
    factors = {each.name: each.f for each in node.attribute}
    if len(node.input) > 2:
        whole = factors.get("alpha", 1.0) == factors.get("beta", 1.0) == 1.0
        return index.vector(node.input[2], width) if whole else None
    (name,) = node.output
    if not index.alone(name):
        return None
    for each in index.made.values():
        if each.op_type == "Add" and name in each.input:
            (other,) = [one for one in each.input if one != name] or [name]
            return index.vector(other, width)
    return None
