"""What is element by element, moved through views to where products and sums take it.

A known factor or addend of each column is part of the weights in front of a reshape, and nothing of
them behind it; one of rows that are looked up is part of their table; sums of images are those of
products where channels are columns.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, Final

import numpy as np

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.graph import Node
from celosia.sw.frontend.nn.operators.operator import Array, TensorType
from celosia.sw.frontend.nn.operators.table import OPERATORS
from celosia.sw.frontend.recognize.reader import Reader
from celosia.sw.frontend.recognize.rewrite import Match
from celosia.sw.frontend.recognize.views import element_numbers, numbered, viewed

__all__ = ["find_affines", "find_joined_sums", "find_lookups", "find_turned"]

_TURNED: Final = frozenset(("add", "sub", "mul"))
"""What is moved in front of a transpose; so is a ReLU behind it.  Other curves are not: as parts of
products they are rounded to 8 bits, and GELU behind Whisper's convolutions then costs 1.8 dB."""


@dataclass(frozen=True, eq=False)
class _Known:
    """An operator of a computed tensor, and a constant."""

    x: str
    value: Array


def _known(reader: Reader, node: Node) -> _Known | None:
    """A node as an operator of a computed tensor, of the same shape, and a constant."""
    operator = OPERATORS[node.op]
    if operator.neutral is None or not node.type.is_float:
        return None
    for x, other in (node.inputs, node.inputs[::-1])[: 1 + operator.commutes]:
        value = reader.value(other)
        if value is not None and reader.value(x) is None and reader.type(x) == node.type:
            return _Known(x, value)
    return None


def _alone(reader: Reader) -> set[str]:
    """The tensors that one node reads, and that are no outputs."""
    outputs = set(reader.graph.outputs.values())
    return {name for name, found in reader.graph.readers().items() if len(found) == 1} - outputs


def find_affines(reader: Reader) -> Iterator[Match]:
    """Factors and addends of a product's columns, behind views of it that nobody else reads.

    They become operators of the product in front of the views.
    """
    alone, readers = _alone(reader), reader.graph.readers()
    for node in reader.nodes:
        if _known(reader, node) is None or _goes_on(reader, node, alone, readers):
            continue
        found = _affine(reader, node, alone)
        if found is not None:
            yield found


def find_lookups(reader: Reader) -> Iterator[Match]:
    """Factors and addends of looked-up rows, a known one for each column: the table has them.

    Tables of embeddings that are multiplied by the root of their width are such, if nobody else
    reads the table or the rows.
    """
    alone = _alone(reader)
    for node in reader.nodes:
        known = _known(reader, node)
        rows = None if known is None else reader.producer(known.x, "gather")
        if known is None or rows is None or rows.attributes["axis"] != 0:
            continue
        table = reader.value(rows.inputs[0])
        if table is None or table.ndim != 2 or not alone.issuperset((rows.name, rows.inputs[0])):
            continue
        cols = table.shape[1]
        vector = _by_column(node.op, known.value, numbered(node.type.shape) % cols, cols)
        if vector is not None:
            yield Match(
                what="a lookup",
                root=node.name,
                operands=rows.inputs,
                build=partial(_looked_up, node.op, vector),
                probes={1: partial(_places, len(table))},
            )


def _looked_up(op: str, vector: Array, builder: GraphBuilder, operands: Sequence[str]) -> str:
    table, places = operands
    numbers = builder.constant(vector.astype(builder.type(table).dtype))
    return builder.op("gather", builder.op(op, table, numbers), places, axis=0)


def _places(rows: int, random: np.random.Generator, kind: TensorType) -> Array:
    """Numbers of rows."""
    return np.asarray(random.integers(0, rows, kind.shape), kind.dtype)


def _goes_on(
    reader: Reader, node: Node, alone: set[str], readers: Mapping[str, list[Node]]
) -> bool:
    """Whether another operator with a constant is behind `node`, or behind views of it."""
    while node.name in alone:
        (node,) = readers[node.name]
        if _known(reader, node) is not None:
            return True
        if reader.view(node.name) is None:
            return False
    return False


def _affine(reader: Reader, node: Node, alone: set[str]) -> Match | None:
    """The operators between a product and `node` in front of all views between them."""
    steps = list(_between(reader, node, alone))[::-1]
    product = _product(reader, steps[0])
    moved = False
    for before, step in pairwise(steps):
        moved = moved or (_known(reader, before) is None and _known(reader, step) is not None)
    if product is None or product.name not in alone or not moved:
        return None
    vectors: list[tuple[str, Array]] = []
    views: list[Node] = []
    numbers, cols = numbered(product.type.shape), product.type.shape[-1]
    for step in steps:
        known = _known(reader, step)
        if known is None:
            views.append(step)
            numbers = viewed(reader, step, numbers)
            continue
        vector = _by_column(step.op, known.value, numbers % cols, cols)
        if vector is None:
            return None
        vectors.append((step.op, vector))

    def build(builder: GraphBuilder, operands: Sequence[str]) -> str:
        (x,) = operands
        for op, vector in vectors:
            x = builder.op(op, x, builder.constant(vector.astype(builder.type(x).dtype)))
        return reader.replay(builder, x, views)

    what = "factors and addends of a product's columns"
    return Match(what=what, root=node.name, operands=(product.name,), build=build)


def _source(reader: Reader, node: Node) -> Node | None:
    """What computes the operand of an operator with a constant, or of a view."""
    known = _known(reader, node)
    return reader.producer(node.inputs[0] if known is None else known.x)


def _between(reader: Reader, node: Node, alone: set[str]) -> Iterator[Node]:
    """A node, and operators with constants and views in front of it that nobody else reads."""
    while True:
        yield node
        before = _source(reader, node)
        if before is None or before.name not in alone:
            return
        if _known(reader, before) is None and reader.view(before.name) is None:
            return
        node = before


def _product(reader: Reader, first: Node) -> Node | None:
    """The product with weights in front of a node."""
    found = _source(reader, first)
    weights = None if found is None or found.op != "matmul" else reader.value(found.inputs[1])
    return None if weights is None or weights.ndim != 2 else found


def _by_column(op: str, value: Array, columns: Array, cols: int) -> Array | None:
    """A constant operand as a number for each column, if elements of a column have the same one."""
    vector = np.full(cols, OPERATORS[op].neutral, value.dtype)
    value = np.broadcast_to(value, columns.shape)
    vector[columns] = value
    return vector if np.array_equal(vector[columns], value) else None


def find_joined_sums(reader: Reader) -> Iterator[Match]:
    """A constant that is added to tensors beside each other: each part gets its own of it.

    What is known of them is known behind the sum, and what a product makes is finished by it.
    """
    alone = _alone(reader)
    for node in reader.nodes:
        known = _known(reader, node) if node.op == "add" else None
        joined = None if known is None else reader.producer(known.x, "concat")
        if known is None or joined is None or joined.name not in alone:
            continue
        computed = tuple(name for name in joined.inputs if reader.value(name) is None)
        if len(computed) == 1 < len(joined.inputs):
            yield _joined(reader, node, joined, known.value, computed)


def _joined(
    reader: Reader, node: Node, joined: Node, value: Array, computed: tuple[str, ...]
) -> Match:
    axis = joined.attributes["axis"]
    assert isinstance(axis, int)
    sizes = [reader.type(name).shape[axis] for name in joined.inputs]
    value = value.reshape((1,) * (node.type.rank - value.ndim) + value.shape)
    whole = value.shape[axis] > 1
    addends = np.split(value, np.cumsum(sizes)[:-1], axis) if whole else [value] * len(sizes)

    def build(builder: GraphBuilder, operands: Sequence[str]) -> str:
        (x,) = operands
        parts, dtype = [], builder.type(x).dtype
        for name, addend in zip(joined.inputs, addends, strict=True):
            known = reader.value(name)
            part = x if known is None else builder.constant(known.astype(dtype))
            parts.append(builder.op("add", part, builder.constant(addend.astype(dtype))))
        return builder.op("concat", *parts, axis=axis)

    what = "a constant that is added to tensors beside each other"
    return Match(what=what, root=node.name, operands=computed, build=build)


def find_turned(reader: Reader) -> Iterator[Match]:
    """Sums and products of what is transposed alike, in front of the transposes."""
    layouts: dict[str, tuple[int, ...]] = {}
    readers = reader.graph.readers()
    for node in reader.nodes:
        if not node.type.is_float:
            continue
        if node.op not in _TURNED and not _rectifies(reader, readers, node):
            continue
        computed = [name for name in node.inputs if reader.value(name) is None]
        if any(reader.type(name) != node.type for name in computed):
            continue
        found = {_layout(reader, name, layouts) for name in computed}
        if len(found) != 1:
            continue
        (permutation,) = found
        if permutation is not None:
            layouts[node.name] = permutation
            yield _turned(reader, node, permutation)


def _rectifies(reader: Reader, readers: Mapping[str, list[Node]], node: Node) -> bool:
    """Whether a node is the ReLU of what is not rounded to 8 bits for it, behind any views.

    That is a sum or a product of tensors, or what others than it take as it is (LeakyReLU).
    """
    if node.op != "relu":
        return False
    source, _ = reader.chain(node.inputs[0])
    beside = any(other.op in _TURNED for other in readers[node.inputs[0]])
    return beside or reader.producer(source, *_TURNED) is not None


def _layout(
    reader: Reader, name: str, layouts: Mapping[str, tuple[int, ...]]
) -> tuple[int, ...] | None:
    """How the axes of a tensor are permuted whose rows stand in columns before; else None.

    Parts of what is permuted are permuted, too.
    """
    whole = name
    while (part := reader.producer(whole, "slice")) is not None:
        whole = part.inputs[0]
    node = reader.producer(whole, "transpose")
    if node is None:
        return layouts.get(whole)
    permutation = node.attributes["permutation"]
    assert isinstance(permutation, tuple)
    found = element_numbers(reader, name)
    if found is None or (np.diff(found[1], axis=-1) == 1).all():
        return None  # Other views in front of it undo it.
    return tuple(axis for axis in permutation if isinstance(axis, int))


def _turned(reader: Reader, node: Node, permutation: tuple[int, ...]) -> Match:
    back = tuple(int(axis) for axis in np.argsort(permutation))
    computed = tuple(dict.fromkeys(name for name in node.inputs if reader.value(name) is None))

    def build(builder: GraphBuilder, operands: Sequence[str]) -> str:
        new = dict(zip(computed, operands, strict=True))
        dtype = builder.type(operands[0]).dtype
        turned = []
        for name in node.inputs:
            value = reader.value(name)
            if value is None:
                turned.append(builder.op("transpose", new[name], permutation=back))
            else:
                value = value.reshape((1,) * (node.type.rank - value.ndim) + value.shape)
                turned.append(builder.constant(value.transpose(back).astype(dtype)))
        attributes: dict[str, Any] = dict(node.attributes)
        made = builder.op(node.op, *turned, **attributes)
        return builder.op("transpose", made, permutation=permutation)

    what = f"{node.op} of what is transposed"
    return Match(what=what, root=node.name, operands=computed, build=build)
