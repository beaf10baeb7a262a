"""Names of an ONNX graph and what they stand for."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter

from onnx import AttributeProto, GraphProto, NodeProto, TensorProto

from celosia.sw.frontend.importer.source.problems import ImportProblem, Refusal
from celosia.sw.frontend.nn.graph import join_origin

__all__ = ["Scope", "node_label", "ordered"]


@dataclass
class Scope:
    """What is known inside of a graph, a branch of it or a function."""

    outer: "Scope | None" = None
    """What a branch sees besides; functions see nothing."""
    prefix: str = ""
    """What names of tensors begin with."""
    origin: str = ""
    """The node that all nodes here stand for, where they are the standard's body of it."""
    attributes: Mapping[str, AttributeProto] = field(default_factory=dict)
    """The attributes of the call, inside of a function."""
    tensors: dict[str, str | None] = field(default_factory=dict)
    """The tensor of the float graph by name; None: an operand of a function that is left out."""
    stored: dict[str, TensorProto] = field(default_factory=dict)
    """Initializers that nobody has read yet."""
    lost: dict[str, str] = field(default_factory=dict)
    """Names without a tensor: the node that makes them was refused, or does not compute them."""

    def find(self, name: str) -> "Scope | None":
        """The scope that has this name, from the innermost on."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.tensors or name in scope.stored or name in scope.lost:
                return scope
            scope = scope.outer
        return None

    def define(self, name: str, tensor: str | None) -> None:
        """Let `name` stand for a tensor.  Raises `Refusal` if it has a meaning already."""
        if name in self.tensors or name in self.stored or name in self.lost:
            raise Refusal(f"{name} is made a second time")
        self.tensors[name] = tensor


def node_label(node: NodeProto) -> str:
    """What a message calls a node."""
    name = node.name or next((output for output in node.output if output), "")
    return join_origin(name, node.op_type)


def ordered(nodes: Sequence[NodeProto], place: str) -> Sequence[NodeProto]:
    """`nodes` so that each stands behind those that it reads.  Raises `ImportProblem`."""
    makers: dict[str, int] = {}
    for index, node in enumerate(nodes):
        for name in filter(None, node.output):
            if name in makers:
                both = f"{node_label(nodes[makers[name]])} and {node_label(node)}"
                raise ImportProblem(f"{place}{name} is made twice: by {both}")
            makers[name] = index
    needs = [{makers[name] for name in _reads(node) if name in makers} for node in nodes]
    if all(max(needed, default=-1) < index for index, needed in enumerate(needs)):
        return nodes
    try:
        order = list(TopologicalSorter(dict(enumerate(needs))).static_order())
    except CycleError as error:
        circle = " -> ".join(node_label(nodes[index]) for index in reversed(error.args[1]))
        raise ImportProblem(f"{place}nodes wait for each other: {circle}") from None
    return [nodes[index] for index in order]


def _reads(node: NodeProto) -> Iterator[str]:
    """The names that a node reads, also inside of its branches."""
    yield from filter(None, node.input)
    for graph in _graphs(node.attribute):
        made = {name for inner in graph.node for name in inner.output}
        made |= {tensor.name for tensor in graph.initializer}
        made |= {value.name for value in graph.input}
        for inner in graph.node:
            yield from (name for name in _reads(inner) if name not in made)
        yield from (value.name for value in graph.output if value.name not in made)


def _graphs(attributes: Iterable[AttributeProto]) -> Iterator[GraphProto]:
    for attribute in attributes:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs
