"""Recognizes curves in whatever form they are written: numbers tell which one it is."""

from collections.abc import Iterator, Sequence
from functools import partial
from math import inf, isfinite
from typing import Any, Final

import numpy as np

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.graph import Node
from celosia.sw.frontend.nn.operators.table import CURVES, OPERATORS
from celosia.sw.frontend.recognize.prove import Build, difference
from celosia.sw.frontend.recognize.reader import Reader
from celosia.sw.frontend.recognize.rewrite import Match

__all__ = ["find_activations", "find_limits", "find_slopes", "find_squares"]

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


def find_limits(reader: Reader) -> Iterator[Match]:
    """What is cut off at 0 and above, in either order: a ReLU, one with an upper end as ReLU6."""
    for node in reader.nodes:
        found = _limits(reader, node.name)
        if found is None:
            continue
        x, low, high = found
        if low == 0 < high and (node.op != "relu" or x != node.inputs[0]):
            most = {} if high == inf else {"most": high}
            yield Match(what="a ReLU", root=node.name, operands=(x,), build=_made("relu", most))


def find_squares(reader: Reader) -> Iterator[Match]:
    """What is raised to the power of 2: a product of a tensor and itself, as behind a ReLU."""
    for node in reader.nodes:
        if node.op == "pow" and node.type.is_float and reader.scalar(node.inputs[1]) == 2:
            x = node.inputs[0]
            if reader.type(x) == node.type:
                yield Match(what="a square", root=node.name, operands=(x,), build=_squared)


def find_slopes(reader: Reader) -> Iterator[Match]:
    """What has another slope below 0 (LeakyReLU): a sum of a multiple of itself and of its ReLU."""
    for node in reader.nodes:
        found = _slope(reader, node) if node.type.is_float else None
        if found is not None:
            x, slope = found
            yield Match(what="a slope", root=node.name, operands=(x,), build=partial(_bent, slope))


def _slope(reader: Reader, node: Node) -> tuple[str, float] | None:
    """What `node` is where that is above 0, and what it is multiplied with elsewhere."""
    if node.op == "max":
        for name, other in (node.inputs, node.inputs[::-1]):
            scaled = reader.scaled(name)
            if scaled is not None and scaled[0] == other and 0 < scaled[1] < 1:
                return scaled
        return None
    if node.op != "where":
        return None
    condition, below, above = node.inputs
    less, scaled = reader.producer(condition, "less"), reader.scaled(below)
    if less is None or less.inputs[0] != above or reader.scalar(less.inputs[1]) != 0:
        return None
    usable = scaled is not None and scaled[0] == above and isfinite(scaled[1])
    return scaled if usable and reader.type(above) == node.type else None


def _bent(slope: float, builder: GraphBuilder, operands: Sequence[str]) -> str:
    (x,) = operands

    def times(name: str, factor: float) -> str:
        dtype = builder.type(x).dtype
        return builder.op("mul", name, builder.constant(np.asarray(factor, dtype)))

    return builder.op("add", times(builder.op("relu", x), 1 - slope), times(x, slope))


def _squared(builder: GraphBuilder, operands: Sequence[str]) -> str:
    (x,) = operands
    return builder.op("mul", x, x)


def _limits(reader: Reader, name: str) -> tuple[str, float, float] | None:
    """What a tensor of floats is but for its ends, and these; None: nothing is cut off."""
    node = reader.producer(name, "max", "min", "relu")
    if node is None or not node.type.is_float:
        return None
    x, low, high = node.inputs[0], -inf, inf
    if node.op == "relu":
        most = node.attributes.get("most", inf)
        assert isinstance(most, float)
        low, high = 0.0, most
    else:
        ends = [(one, reader.scalar(other)) for one, other in (node.inputs, node.inputs[::-1])]
        known = [(one, end) for one, end in ends if end is not None]
        if len(known) != 1 or reader.type(known[0][0]) != node.type:
            return None
        x, end = known[0]
        low, high = (end, inf) if node.op == "max" else (-inf, end)
    within = _limits(reader, x)
    if within is None:
        return x, low, high
    x, least, most = within
    return x, min(max(least, low), high), min(max(most, low), high)


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
    return [_made(op, dict(form)) for op, forms in CURVES.items() for form in forms(factor)]


def _made(op: str, attributes: dict[str, Any]) -> Build:
    def build(builder: GraphBuilder, operands: Sequence[str]) -> str:
        return builder.op(op, operands[0], **attributes)

    return build
