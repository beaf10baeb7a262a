"""Hidden channels of ONNX models: the matrices that make them, and the one that reads them.

Channels can go if all that is between computes each of them from itself alone: biases, activations,
gates.  So they are found by walking back from each product, whatever the file calls them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from onnx import GraphProto, NodeProto, TensorProto, numpy_helper

from celosia.lab.prune.files.index import BY_COLUMN, PRODUCTS, Cut, Index
from celosia.sw.frontend.importer.source.scope import node_label

__all__ = ["Hidden", "NoChannelsError", "find_hidden"]


class NoChannelsError(ValueError):
    """What a product reads is no hidden channels."""


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
    index, found, reasons = Index(graph), [], {}
    for node in graph.node:
        if node.op_type in PRODUCTS:
            try:
                found.append(_hidden(node, index))
            except NoChannelsError as reason:
                reasons[node_label(node)] = str(reason)
    return found, reasons


def _hidden(node: NodeProto, index: Index) -> Hidden:
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
        bias=index.bias(node, int(results.tensor.dims[results.axis])),
        shapes=walk.shapes,
        tensors=frozenset(walk.tensors),
    )


class _Walk:
    """The way from a product's operand back to the products that make its columns."""

    def __init__(self, index: Index, width: int):
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
        elif node.op_type in BY_COLUMN:
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
