"""Splits products whose columns go different ways: gate and value of one matrix, as in Phi-3.

A curve is computed as the rows of its product drain, and a product of two tensors reads two; both
need products of their own.  Columns that attention reads stay together.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.graph import Node
from celosia.sw.frontend.nn.operators.table import CURVES
from celosia.sw.frontend.recognize.reader import Reader
from celosia.sw.frontend.recognize.rewrite import Match

__all__ = ["find_parts"]


def find_parts(reader: Reader) -> Iterator[Match]:
    """Columns of a product with weights, which nobody reads whole, on their way into a curve."""
    readers, outputs = reader.graph.readers(), set(reader.graph.outputs.values())
    for node in reader.nodes:
        weights = reader.value(node.inputs[1]) if node.op == "matmul" else None
        if weights is None or weights.ndim != 2:
            continue
        last, bias = node, None
        following = readers[node.name]
        if len(following) == 1 and following[0].op == "add" and node.name not in outputs:
            bias = next(
                (name for name in following[0].inputs if reader.value(name) is not None), None
            )
            if bias is not None:
                last = following[0]
        cuts = readers[last.name]
        if last.name in outputs or not all(_cuts_columns(cut, last) for cut in cuts):
            continue
        behind = (each for cut in cuts for each in readers[cut.name])
        if any(each.op in {*CURVES, "mul"} for each in behind):
            yield from (_match(node, bias, cut) for cut in cuts)


def _cuts_columns(node: Node, whole: Node) -> bool:
    """Whether a node takes columns beside each other of all rows of another one."""
    if node.op != "slice" or node.type.shape[:-1] != whole.type.shape[:-1]:
        return False
    attributes: Any = node.attributes
    return set(attributes["steps"]) == {1} and not any(attributes["starts"][:-1])


def _match(node: Node, bias: str | None, cut: Node) -> Match:
    attributes: Any = cut.attributes
    first, count = attributes["starts"][-1], attributes["sizes"][-1]

    def columns(builder: GraphBuilder, name: str) -> str:
        if builder.type(name).shape[-1:] in {(), (1,)}:
            return name
        *rows, _ = builder.type(name).shape
        return builder.op(
            "slice",
            name,
            starts=(*(0 for _ in rows), first),
            sizes=(*rows, count),
            steps=(*(1 for _ in rows), 1),
        )

    def build(builder: GraphBuilder, operands: Sequence[str]) -> str:
        x, weights, *rest = operands
        found = builder.op("matmul", x, columns(builder, weights))
        for each in rest:
            found = builder.op("add", found, columns(builder, each))
        return found

    operands = (*node.inputs, *([] if bias is None else [bias]))
    return Match(what="a part of a product", root=cut.name, operands=operands, build=build)
