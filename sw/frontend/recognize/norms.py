"""Recognizes LayerNorm and RMSNorm that are written operator by operator."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.graph import Node
from celosia.sw.frontend.recognize.prove import Probe, uneven_rows
from celosia.sw.frontend.recognize.reader import Reader
from celosia.sw.frontend.recognize.rewrite import Match

__all__ = ["find_head_norms", "find_norms"]


def find_norms(reader: Reader) -> Iterator[Match]:
    """What is divided by the root of a mean square, with the factors and addends behind it.

    Rows over their lengths, or over a number where these are less, are so, too.
    """
    readers = reader.graph.readers()
    for node in reader.nodes:
        least = _least_length(reader, node)
        if least is not None:
            yield _length(node, least)
        root = _root(reader, node)
        if root is None or not _is_last(root, node):
            continue
        found = _normed(reader, root, node)
        if found is not None:
            x, epsilon, centered = found
            yield _match(reader, readers, node, x, epsilon, centered=centered)


def _root(reader: Reader, node: Node) -> Node | None:
    """The root that a node divides by, or by whose inverse it multiplies."""
    if node.op == "div":
        return reader.producer(node.inputs[1], "sqrt", "pow")
    if node.op == "mul":
        for name in node.inputs:
            inverse = reader.producer(name, "div", "pow")
            if inverse is None:
                continue
            if inverse.op == "pow":
                return inverse if reader.scalar(inverse.inputs[1]) == -0.5 else None
            if reader.scalar(inverse.inputs[0]) == 1:
                return reader.producer(inverse.inputs[1], "sqrt")
    return None


def _is_last(root: Node, node: Node) -> bool:
    """Whether the root has one number for each row of the result."""
    return root.type.rank == node.type.rank > 0 and root.type.shape[-1] == 1


def _normed(reader: Reader, root: Node, node: Node) -> tuple[str, float, bool] | None:
    """What is normalized, the epsilon under the root, and whether the mean is taken off."""
    name, epsilon = root.inputs[0], 0.0
    total = reader.producer(name, "add")
    if total is not None:
        for number, other in (total.inputs, total.inputs[::-1]):
            if (value := reader.scalar(number)) is not None:
                name, epsilon = other, value
    mean = reader.producer(name, "reduce_mean")
    square = None if mean is None else reader.producer(mean.inputs[0], "pow", "mul")
    if square is None or square.type.shape != node.type.shape:
        return None
    if square.op == "pow" and reader.scalar(square.inputs[1]) != 2:
        return None
    inner = square.inputs[0]
    difference = reader.producer(inner, "sub")
    if difference is not None:
        off = reader.producer(difference.inputs[1], "reduce_mean")
        if off is not None and off.inputs[0] == difference.inputs[0]:
            return difference.inputs[0], epsilon, True
    return inner, epsilon, False


def _match(
    reader: Reader,
    readers: dict[str, list[Node]],
    node: Node,
    x: str,
    epsilon: float,
    *,
    centered: bool,
) -> Match:
    root, width = node, node.type.shape[-1]
    gamma, root = _vector(reader, readers, root, "mul", width)
    beta, root = _vector(reader, readers, root, "add", width) if centered else (None, root)
    constants = [name for name in (gamma, beta) if name is not None]

    def build(builder: GraphBuilder, operands: Sequence[str]) -> str:
        source, *rest = operands
        rows = [builder.op("reshape", name, shape=(width,)) for name in rest]
        if gamma is None:
            one = np.ones(width, builder.type(source).dtype)
            rows = [builder.constant(one), *rows]
        op = "layernorm" if centered else "rmsnorm"
        return builder.op(op, source, *rows, axis=node.type.rank - 1, epsilon=float(epsilon))

    what = "a LayerNorm" if centered else "an RMSNorm"
    operands, probes = (x, *constants), _probes(epsilon)
    return Match(what=what, root=root.name, operands=operands, build=build, probes=probes)


def _probes(epsilon: float) -> dict[int, Probe]:
    """Without an epsilon, a row of one number again and again has no norm in the file, either."""
    return {} if epsilon else {0: uneven_rows}


def _vector(
    reader: Reader, readers: dict[str, list[Node]], node: Node, op: str, width: int
) -> tuple[str | None, Node]:
    """The vector that the one reader of a node multiplies or adds, and the reader."""
    following = readers[node.name]
    if len(following) == 1 and following[0].op == op and following[0].type == node.type:
        (after,) = following
        for name in after.inputs:
            value = reader.value(name)
            if value is not None and value.size == width and value.shape[-1:] == (width,):
                return name, after
    return None, node


def _least_length(reader: Reader, node: Node) -> float | None:
    """The number that a node divides by where its rows are no longer; None: not by lengths."""
    if node.op != "div" or not node.type.rank:
        return None
    name, _ = reader.chain(node.inputs[1])  # Repeated for each element of a row.
    least, floor = 0.0, reader.producer(name, "max")
    for number, other in () if floor is None else (floor.inputs, floor.inputs[::-1]):
        if (value := reader.scalar(number)) is not None:
            name, least = other, value
    root = reader.producer(name, "sqrt")
    total = None if root is None else reader.producer(root.inputs[0], "reduce_sum")
    if total is None or total.attributes["axes"] != (node.type.rank - 1,):
        return None
    square = reader.producer(total.inputs[0], "pow", "mul")
    return least if square is not None and square.inputs[0] == node.inputs[0] else None


def _length(node: Node, least: float) -> Match:
    width = node.type.shape[-1]

    def build(builder: GraphBuilder, operands: Sequence[str]) -> str:
        (x,) = operands
        gamma = np.full(width, width**-0.5, builder.type(x).dtype)
        attributes = {"axis": node.type.rank - 1, "epsilon": least**2 / width}
        return builder.op("rmsnorm", x, builder.constant(gamma), **attributes)

    operands, what = (node.inputs[0],), "rows over their lengths"
    return Match(what=what, root=node.name, operands=operands, build=build, probes=_probes(least))


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
