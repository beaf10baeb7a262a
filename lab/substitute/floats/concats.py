"""Moves concatenations towards inputs: what is beside each other is computed by one operator."""

from collections.abc import Iterator, Sequence
from typing import Final

from celosia.lab.substitute.floats.products import linear_of
from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.graph import Node
from celosia.sw.frontend.recognize.prove import Build
from celosia.sw.frontend.recognize.reader import Reader
from celosia.sw.frontend.recognize.rewrite import Match

__all__ = ["find_concatenated_products", "find_concatenated_sums", "find_heads_apart"]

_HEADS_AXIS: Final = 1
_HEAD_RANK: Final = 4


def _parts(reader: Reader, node: Node, op: str) -> list[Node]:
    """What is concatenated, if each is the result of an operator `op` of the same type."""
    parts = [reader.producer(name, op) for name in node.inputs]
    found = [part for part in parts if part is not None]
    return found if len(found) == len(parts) > 1 else []


def _is_last_axis(node: Node) -> bool:
    return node.attributes["axis"] in {-1, node.type.rank - 1}


def find_concatenated_products(reader: Reader) -> Iterator[Match]:
    """Products of one tensor, with biases or without, beside each other: one with all weights."""
    for node in reader.nodes:
        if node.op != "concat" or not _is_last_axis(node):
            continue
        parts = [linear_of(reader, name) for name in node.inputs]
        found = [part for part in parts if part is not None]
        alike = len({(x, len(biases)) for x, _, biases in found}) == 1
        plain = all(reader.type(name).rank == 2 for _, name, _ in found)
        vectors = all(reader.type(bias).rank == 1 for *_, biases in found for bias in biases)
        if len(found) == len(parts) > 1 and alike and plain and vectors:
            weights = (name for _, name, _ in found)
            operands = (found[0][0], *weights, *(bias for *_, biases in found for bias in biases))
            build, what = _one_product(len(found)), "products beside each other"
            yield Match(what=what, root=node.name, operands=operands, build=build)


def _one_product(count: int) -> Build:
    def build(builder: GraphBuilder, operands: Sequence[str]) -> str:
        x, *rest = operands
        weights, biases = rest[:count], rest[count:]
        found = builder.op("matmul", x, builder.op("concat", *weights, axis=1))
        return builder.op("add", found, builder.op("concat", *biases, axis=0)) if biases else found

    return build


def find_concatenated_sums(reader: Reader) -> Iterator[Match]:
    """Tensors with biases beside each other: all tensors, and the biases of all."""
    for node in reader.nodes:
        parts = _parts(reader, node, "add") if node.op == "concat" else []
        pairs = [_biased(reader, part) for part in parts]
        found = [pair for pair in pairs if pair is not None]
        if found and len(found) == len(pairs) and _is_last_axis(node):
            tensors, biases = zip(*found, strict=True)
            operands, what = (*tensors, *biases), "sums beside each other"
            yield Match(what=what, root=node.name, operands=operands, build=_one_sum)


def _biased(reader: Reader, node: Node) -> tuple[str, str] | None:
    """A tensor, and the known number for each of its columns that is added to it."""
    for name, bias in (node.inputs, node.inputs[::-1]):
        value = reader.value(bias)
        if value is not None and value.shape == node.type.shape[-1:] and node.type.rank > 1:
            return name, bias
    return None


def _one_sum(builder: GraphBuilder, operands: Sequence[str]) -> str:
    half = len(operands) // 2
    axis = builder.type(operands[0]).rank - 1
    tensors = builder.op("concat", *operands[:half], axis=axis)
    return builder.op("add", tensors, builder.op("concat", *operands[half:], axis=0))


def find_heads_apart(reader: Reader) -> Iterator[Match]:
    """Heads (batch, 1, rows, columns) of tensors of their own: of one tensor with all columns."""
    for node in reader.nodes:
        parts = _parts(reader, node, "reshape") if node.op == "concat" else []
        if not parts or node.type.rank != _HEAD_RANK or node.attributes["axis"] != _HEADS_AXIS:
            continue
        batch, _, rows, cols = node.type.shape
        sources = tuple(part.inputs[0] for part in parts)
        one = (batch, 1, rows, cols)
        if all(part.type.shape == one for part in parts) and all(
            reader.type(name).shape == (batch, rows, cols) for name in sources
        ):
            yield Match(what="heads apart", root=node.name, operands=sources, build=_heads)


def _heads(builder: GraphBuilder, operands: Sequence[str]) -> str:
    batch, rows, cols = builder.type(operands[0]).shape
    beside = builder.op("concat", *operands, axis=2)
    split = builder.op("reshape", beside, shape=(batch, rows, len(operands), cols))
    return builder.op("transpose", split, permutation=(0, 2, 1, 3))
