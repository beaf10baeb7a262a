"""Moves slices towards inputs: rows that are cut off are not computed."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.graph import Node
from celosia.sw.frontend.nn.operators.operator import Reach
from celosia.sw.frontend.nn.operators.table import OPERATORS
from celosia.sw.frontend.recognize.prove import Build
from celosia.sw.frontend.recognize.reader import Reader
from celosia.sw.frontend.recognize.rewrite import Match

__all__ = ["find_late_slices"]


def find_late_slices(reader: Reader) -> Iterator[Match]:
    """Slices of what an operator makes, that nobody else reads: the operator on slices."""
    readers, outputs = reader.graph.readers(), set(reader.graph.outputs.values())
    for node in reader.nodes:
        inner = reader.producer(node.inputs[0]) if node.op == "slice" else None
        if inner is None or len(readers[inner.name]) > 1 or inner.name in outputs:
            continue
        reach = OPERATORS[inner.op].reach
        if reach is Reach.ELEMENT:
            build = _each(node, inner)
        elif reach is Reach.ROW and _cuts_rows(reader, node, inner):
            build = _rows(node, inner)
        else:
            continue
        yield Match(what="a late slice", root=node.name, operands=inner.inputs, build=build)


def _cuts_rows(reader: Reader, node: Node, inner: Node) -> bool:
    """Whether a slice leaves the last axis, of all that is a row, whole, and nothing else has rows.

    The operands behind the first are those without rows; an operator's `axis` is the last one.
    """
    shared = all(reader.type(name).rank <= 2 for name in inner.inputs[1:])
    whole, last = node.type.shape[-1] == inner.type.shape[-1], inner.type.rank - 1
    return shared and whole and last > 0 and inner.attributes.get("axis", last) in {-1, last}


def _each(node: Node, inner: Node) -> Build:
    def build(builder: GraphBuilder, operands: Sequence[str]) -> str:
        parts = [_part(builder, name, _cuts(node), inner.type.shape) for name in operands]
        return builder.op(inner.op, *parts, **_attributes(inner))

    return build


def _rows(node: Node, inner: Node) -> Build:
    def build(builder: GraphBuilder, operands: Sequence[str]) -> str:
        x, *rest = operands
        last = builder.type(x).shape[-1]
        cuts, whole = [*_cuts(node)[:-1], (0, last, 1)], (*inner.type.shape[:-1], last)
        return builder.op(inner.op, _part(builder, x, cuts, whole), *rest, **_attributes(inner))

    return build


def _attributes(node: Node) -> dict[str, Any]:
    return dict(node.attributes)


def _cuts(node: Node) -> list[tuple[int, int, int]]:
    """First element, number of elements and step along each axis of a slice."""
    attributes = _attributes(node)
    return list(zip(*(attributes[key] for key in _PARTS), strict=True))


def _part(
    builder: GraphBuilder, name: str, cuts: Sequence[tuple[int, int, int]], whole: tuple[int, ...]
) -> str:
    """What a slice of `whole` leaves of a tensor that is broadcast to it."""
    shape = builder.type(name).shape
    missing = len(whole) - len(shape)
    own = [(0, 1, 1) if size == 1 else cut for size, cut in zip(shape, cuts[missing:], strict=True)]
    starts, sizes, steps = (tuple(cut[place] for cut in own) for place in range(3))
    return builder.op("slice", name, starts=starts, sizes=sizes, steps=steps)


_PARTS: Final = ("starts", "sizes", "steps")
