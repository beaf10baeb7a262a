"""Recognizes LayerNorm and RMSNorm that are written operator by operator."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any, Final, NamedTuple

import numpy as np

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.graph import Node
from celosia.sw.frontend.nn.operators.operator import Array
from celosia.sw.frontend.recognize.prove import Probe, long_rows, uneven_rows
from celosia.sw.frontend.recognize.reader import Reader
from celosia.sw.frontend.recognize.rewrite import Match

__all__ = ["find_head_norms", "find_norms"]

_SMALL: Final = 1e-5
"""An epsilon that files add to a size, or the least that it is, is up to here taken under the root:
rows of a size of .01 then differ by a thousandth, and those that are larger by less."""


def find_norms(reader: Reader) -> Iterator[Match]:
    """What is divided by the size of its rows, with the factors and addends around it.

    A size is a multiple of the root of a mean or a sum of squares: a length and a deviation are.
    """
    readers = reader.graph.readers()
    for node in reader.nodes:
        found = _divided(reader, node)
        if found is not None:
            yield _match(reader, readers, node, *found)


@dataclass(frozen=True)
class _Size:
    """The factor times the root of the mean square of a row of `x`, and of an epsilon.

    Of the distances of its elements from their mean, if it is `centered`.
    """

    x: str
    centered: bool
    factor: float
    epsilon: float
    exact: bool
    """Whether the file, too, has its epsilon under the root."""


def _divided(reader: Reader, node: Node) -> tuple[str, _Size] | None:
    """What a node divides by the size of rows, or multiplies by the inverse, and that size."""
    found = None
    if node.op == "div":
        found = node.inputs[0], _size(reader, node, node.inputs[1])
    for x, other in (node.inputs, node.inputs[::-1]) if node.op == "mul" else ():
        name, _ = reader.chain(other)
        inverse = reader.producer(name, "div", "pow")
        if inverse is not None and inverse.op == "pow":
            found = x, _rooted(reader, node, inverse, -0.5)
        elif inverse is not None and (number := reader.scalar(inverse.inputs[0])):
            size = _size(reader, node, inverse.inputs[1])
            found = x, size and replace(size, factor=size.factor / number)
    return None if found is None or found[1] is None else (found[0], found[1])


def _size(reader: Reader, node: Node, name: str) -> _Size | None:
    line = _line(reader, name, "sqrt", "pow")
    size = None if line is None else _rooted(reader, node, line.node, 0.5)
    if line is None or size is None or line.factor <= 0:
        return None
    factor, added = size.factor * line.factor, line.added + line.least
    if not 0 <= added <= _SMALL * factor:
        return None
    epsilon = size.epsilon + (added / factor) ** 2
    return replace(size, factor=factor, epsilon=epsilon, exact=not added)


def _rooted(reader: Reader, node: Node, root: Node, power: float) -> _Size | None:
    """The size that a root is, of rows of the shape of `node`."""
    if root.op == "pow" and reader.scalar(root.inputs[1]) != power:
        return None
    line = _line(reader, root.inputs[0], "reduce_mean", "reduce_sum")
    if line is None:
        return None
    square = reader.producer(line.node.inputs[0], "pow", "mul")
    last = node.type.rank - 1
    if square is None or square.type != node.type or line.node.attributes["axes"] != (last,):
        return None
    if square.op == "pow" and reader.scalar(square.inputs[1]) != 2:
        return None
    factor = line.factor * (node.type.shape[-1] if line.node.op == "reduce_sum" else 1)
    if factor <= 0 or line.least > _SMALL**2 * factor:
        return None
    x, centered = square.inputs[0], False
    difference = reader.producer(x, "sub")
    off = None if difference is None else reader.producer(difference.inputs[1], "reduce_mean")
    if difference is not None and off is not None and off.inputs[0] == difference.inputs[0]:
        x, centered = off.inputs[0], True
    epsilon = (line.added + line.least) / factor
    return _Size(x, centered, sqrt(factor), epsilon, exact=True)


class _Line(NamedTuple):
    """A tensor as a multiple of a node's result, and what is added to it, or is its least."""

    node: Node
    factor: float
    added: float
    least: float


def _line(reader: Reader, name: str, *ops: str) -> _Line | None:
    """A tensor as a multiple of what a node of `ops` makes, if it is one."""
    factor, ends = 1.0, {"add": 0.0, "max": 0.0}
    while True:
        name, _ = reader.chain(name)  # Repeated for each element of a row.
        node, scaled = reader.producer(name), reader.scaled(name)
        if node is None or node.op in ops:
            return None if node is None else _Line(node, factor, ends["add"], ends["max"])
        if scaled is not None:
            name, factor = scaled[0], factor * scaled[1]
            continue
        pairs = (node.inputs, node.inputs[::-1]) if node.op in ends else ()
        known = [(one, end) for one, other in pairs if (end := reader.scalar(other)) is not None]
        if not known:
            return None
        name = known[0][0]
        ends[node.op] += factor * known[0][1]


def _match(
    reader: Reader, readers: dict[str, list[Node]], node: Node, divided: str, size: _Size
) -> Match:
    root, width, centered = node, node.type.shape[-1], size.centered
    gamma, beta = np.full(width, 1 / size.factor), None
    while (before := _vector(reader, reader.producer(divided, "mul"), width)) is not None:
        if divided == size.x:
            break
        divided, gamma = before[0], gamma * before[1]
    while (behind := _behind(reader, readers, root, "mul", width)) is not None:
        gamma, root = gamma * behind[0], behind[1]
    if centered and (behind := _behind(reader, readers, root, "add", width)) is not None:
        beta, root = behind

    def build(builder: GraphBuilder, operands: Sequence[str]) -> str:
        (x,) = operands
        dtype, vectors = builder.type(x).dtype, (gamma, beta)
        rows = [builder.constant(row.astype(dtype)) for row in vectors if row is not None]
        op = "layernorm" if centered else "rmsnorm"
        return builder.op(op, x, *rows, axis=node.type.rank - 1, epsilon=size.epsilon)

    what = "a LayerNorm" if centered else "an RMSNorm"
    return Match(what=what, root=root.name, operands=(size.x,), build=build, probes=_probes(size))


def _probes(size: _Size) -> dict[int, Probe]:
    """Without an epsilon, a row of one number again and again has no norm in the file, either."""
    if not size.epsilon:
        return {0: uneven_rows}
    return {} if size.exact else {0: long_rows}


def _vector(reader: Reader, node: Node | None, width: int) -> tuple[str, Array] | None:
    """What a node combines with a known number for all elements or for each column, and those."""
    for x, other in () if node is None else (node.inputs, node.inputs[::-1]):
        value = reader.value(other)
        if value is None or node is None or reader.type(x) != node.type:
            continue
        if value.size == 1 or (value.size == width and value.shape[-1:] == (width,)):
            return x, np.broadcast_to(value.reshape(-1).astype(np.float64), (width,))
    return None


def _behind(
    reader: Reader, readers: dict[str, list[Node]], node: Node, op: str, width: int
) -> tuple[Array, Node] | None:
    """The vector that the one reader of a node multiplies or adds, and the reader."""
    following = readers[node.name]
    if len(following) != 1 or following[0].op != op:
        return None
    found = _vector(reader, following[0], width)
    return None if found is None else (found[1], following[0])


def find_head_norms(reader: Reader) -> Iterator[Match]:
    """Norms of rows that are transposed behind them: of heads (texts, tokens, heads, columns)."""
    readers, outputs = reader.graph.readers(), set(reader.graph.outputs.values())
    for node in reader.nodes:
        norm = reader.producer(node.inputs[0], "rmsnorm", "layernorm") if node.inputs else None
        if node.op != "transpose" or norm is None or norm.name in outputs:
            continue
        order: Any = node.attributes["permutation"]
        last = node.type.rank - 1
        if len(readers[norm.name]) == 1 and order[-1] == last and norm.attributes["axis"] == last:
            yield _moved(node, norm)


def _moved(node: Node, norm: Node) -> Match:
    def build(builder: GraphBuilder, operands: Sequence[str]) -> str:
        x, *vectors = operands
        transposing: Any = dict(node.attributes)
        attributes: Any = dict(norm.attributes)
        return builder.op(
            norm.op, builder.op("transpose", x, **transposing), *vectors, **attributes
        )

    return Match(what="a norm of heads", root=node.name, operands=norm.inputs, build=build)
