"""Nodes of a recognized graph that compute the same of the same are computed once.

Files compute masks, and views of them, for each layer.  A product, or what is element by element,
keeps its twin where their readers differ: a bias or a curve is part of a product that only it
reads, and costs nothing there.
"""

from collections.abc import Hashable, Mapping
from dataclasses import replace

from celosia.sw.frontend.nn.graph import FloatGraph, Node
from celosia.sw.frontend.nn.operators.operator import Reach
from celosia.sw.frontend.nn.operators.table import OPERATORS

__all__ = ["merge_twins"]


def merge_twins(graph: FloatGraph) -> tuple[FloatGraph, dict[str, str]]:
    """The graph with one of each node, and for origins of those that are gone, that of the other.

    Equal are an operator, its attributes, its type, and its operands: constants by their elements.
    """
    apart: set[str] = set()
    while True:
        first = _first_of(graph, apart)
        wrong = _read_otherwise(graph, first) - apart
        if not wrong:
            break
        apart |= wrong
    nodes = graph.producers()
    kept = tuple(
        replace(node, inputs=tuple(first.get(name, name) for name in node.inputs))
        for node in graph.nodes
        if first[node.name] == node.name
    )
    outputs = {name: first.get(tensor, tensor) for name, tensor in graph.outputs.items()}
    read = {name for node in kept for name in node.inputs} | set(outputs.values())
    gone = {
        nodes[name].origin: nodes[other].origin
        for name, other in first.items()
        if nodes[name].origin != nodes[other].origin
    }
    constants = {name: value for name, value in graph.constants.items() if name in read}
    return replace(graph, nodes=kept, outputs=outputs, constants=constants), gone


def _first_of(graph: FloatGraph, apart: set[str]) -> dict[str, str]:
    """The first node that equals each node; those that are `apart` equal no other."""
    known: dict[Hashable, list[Node]] = {}
    first: dict[str, str] = {}
    for node in graph.nodes:
        likeness = (
            *(node.op, node.type, str(sorted(node.attributes.items()))),
            *(None if name in graph.constants else first.get(name, name) for name in node.inputs),
        )
        others = known.setdefault(likeness, [])
        twin = next((other for other in others if _same_constants(graph, node, other)), None)
        if node.name in apart or twin is None:
            first[node.name] = node.name
            if node.name not in apart:
                others.append(node)
        else:
            first[node.name] = twin.name
    return first


def _same_constants(graph: FloatGraph, node: Node, other: Node) -> bool:
    for names in zip(node.inputs, other.inputs, strict=True):
        if names[0] != names[1] and names[0] in graph.constants:
            one, two = (graph.constants[name] for name in names)
            same = (one.dtype, one.shape) == (two.dtype, two.shape)
            if not same or one.tobytes() != two.tobytes():
                return False
    return True


def _read_otherwise(graph: FloatGraph, first: Mapping[str, str]) -> set[str]:
    """The nodes among twins that have to be read alike, and are not."""
    readers, outputs = graph.readers(), set(graph.outputs.values())
    found, behind = set[str](), set[str]()
    for node in graph.nodes:
        name, other = node.name, first[node.name]
        if not _part_of_product(node, behind):
            continue
        behind.add(name)
        alike = [sorted(first[reader.name] for reader in readers[each]) for each in (name, other)]
        if name != other and (alike[0] != alike[1] or {name, other} & outputs):
            found.add(name)
    return found


def _part_of_product(node: Node, behind: set[str]) -> bool:
    """Whether a node is a product, or element by element `behind` one."""
    operator = OPERATORS[node.op]
    return operator.macs is not None or (
        operator.reach is Reach.ELEMENT and not behind.isdisjoint(node.inputs)
    )
