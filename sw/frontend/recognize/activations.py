"""Recognizes curves in whatever form they are written: numbers tell which one it is."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.graph import Node
from celosia.sw.frontend.nn.operators.table import CURVES, OPERATORS
from celosia.sw.frontend.recognize.prove import Build, difference
from celosia.sw.frontend.recognize.reader import Reader
from celosia.sw.frontend.recognize.rewrite import Match

__all__ = ["find_activations"]

_REACH: Final = 5
"""Operators before and behind the one in the middle, at most."""


def find_activations(reader: Reader) -> Iterator[Match]:
    """Each curve with the operators around it that together are an activation of one tensor."""
    readers = reader.graph.readers()
    for node in reader.nodes:
        if OPERATORS[node.op].written == "middle" and node.type.is_float:
            match = _match(reader, readers, node)
            if match is not None:
                yield match


def _match(reader: Reader, readers: dict[str, list[Node]], curve: Node) -> Match | None:
    sources = _above(reader, curve)
    for root in _below(readers, curve):
        for x, factor in sources:
            if not _is_closed(reader, root.name, x):
                continue
            for build in _candidates(factor):
                if difference(reader, root.name, (x,), build, {}) is None:
                    return Match(what="an activation", root=root.name, operands=(x,), build=build)
    return None


def _above(reader: Reader, curve: Node) -> list[tuple[str, float]]:
    """What the curve may be a function of, the nearest first, and the last factor before it."""
    found = [(curve.inputs[0], 1.0)]
    for name, factor in found:
        scaled = reader.scaled(name)
        node = reader.producer(name)
        if scaled is not None:
            found.append((scaled[0], factor * scaled[1]))
        elif node is not None and _is_written(node) and len(found) < _REACH:
            same = [each for each in node.inputs if reader.value(each) is None]
            found += [(each, -factor if node.op == "neg" else factor) for each in same]
    return list(dict(found).items())


def _below(readers: dict[str, list[Node]], curve: Node) -> list[Node]:
    """Nodes that may end the activation, the farthest first."""
    found = [curve]
    for node in found:
        if len(found) > _REACH:
            break
        found += [
            other
            for other in readers[node.name]
            if _is_written(other) and other.type == curve.type and other not in found
        ]
    return found[:0:-1]


def _is_written(node: Node) -> bool:
    return OPERATORS[node.op].written is not None


def _is_closed(reader: Reader, root: str, x: str) -> bool:
    """Whether `root` only depends on `x` and constants, by a few operators."""
    try:
        nodes = reader.between(root, (x,))
    except KeyError:
        return False
    return all(OPERATORS[node.op].written is not None for node in nodes)


def _candidates(factor: float) -> list[Build]:
    """The activations that it may be; `factor` is what a sigmoid is steeper by."""

    def made(op: str, attributes: dict[str, Any]) -> Build:
        def build(builder: GraphBuilder, operands: Sequence[str]) -> str:
            return builder.op(op, operands[0], **attributes)

        return build

    return [made(op, dict(form)) for op, forms in CURVES.items() for form in forms(factor)]
