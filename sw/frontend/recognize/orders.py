"""Orders of columns: of heads, which attention does not see, and of products, which weights take.

A rotation of neighbouring columns is one of halves between two reorderings.  The one behind it
leaves the products of queries and keys as they are, if both have it; the one before it is an order
of the columns of the weights that make the rotation's operand.  Where one product makes queries,
keys and values, each then gets a product of its own.

And orders of sums: a sum of two products and something else is two sums of a product.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.graph import Node
from celosia.sw.frontend.nn.operators.operator import Array
from celosia.sw.frontend.recognize.reader import Reader
from celosia.sw.frontend.recognize.rewrite import Match
from celosia.sw.frontend.recognize.views import element_numbers

__all__ = ["find_orders"]


def find_orders(reader: Reader) -> Iterator[Match]:
    """Attention of queries and keys in the same order, and products whose columns are reordered."""
    readers, outputs = reader.graph.readers(), set(reader.graph.outputs.values())
    alone = {name for name, found in readers.items() if len(found) == 1} - outputs
    for node in reader.nodes:
        if node.op == "attention":
            found = _attention(reader, node)
        elif reader.order(node.name) is not None:
            found = _product(reader, node, alone) or _own_product(reader, node, outputs)
        elif node.op == "slice" and _is_beside_orders(reader, readers, node):
            found = _own_product(reader, node, outputs)
        elif node.op == "add":
            found = _sum(reader, node, alone)
        else:
            continue
        if found is not None:
            yield found


def _attention(reader: Reader, node: Node) -> Match | None:
    """Attention without the order that its queries and its keys have."""
    query, key, *rest = node.inputs
    found = [_reordering(reader, name) for name in (query, key)]
    if found[0] is None or found[1] is None or not np.array_equal(found[0][1], found[1][1]):
        return None
    operands = (found[0][0], found[1][0], *rest)

    def build(builder: GraphBuilder, operands: Sequence[str]) -> str:
        attributes: dict[str, Any] = dict(node.attributes)
        return builder.op("attention", *operands, **attributes)

    return Match(what="attention in any order", root=node.name, operands=operands, build=build)


def _reordering(reader: Reader, name: str) -> tuple[str, NDArray[np.int64]] | None:
    """What a tensor has the columns of in another order, by however many views, and the order."""
    found = element_numbers(reader, name)
    if found is None or not found[1].size or found[1].shape != reader.type(found[0]).shape:
        return None
    source, numbers = found
    cols = numbers.shape[-1]
    order = numbers.reshape(-1, cols)[0]
    starts = np.arange(0, numbers.size, cols)[:, np.newaxis]
    every, changed = np.array_equal(np.sort(order), range(cols)), (np.diff(order) != 1).any()
    same = np.array_equal(numbers.reshape(-1, cols), starts + order)
    return (source, order) if every and changed and same else None


def _product(reader: Reader, node: Node, alone: set[str]) -> Match | None:
    """A product with reordered weights, in the place of one whose columns are reordered.

    Only if all between the two is `alone`: read by one node, and no output.
    """
    source, views = reader.chain(node.name)
    made = _made_by(reader, source)
    if made is None or {made.name, source, *(view.name for view in views[:-1])} - alone:
        return None
    order = _columns(reader, node, made.weights.shape[1])
    if order is None:
        return None

    def build(builder: GraphBuilder, operands: Sequence[str]) -> str:
        return reader.replay(builder, made.build(builder, operands[0], order), views[:-1])

    what = "a product with its weights in another order"
    return Match(what=what, root=node.name, operands=(made.x,), build=build)


@dataclass(frozen=True, eq=False)
class _Made:
    """A product with weights, and the bias behind it."""

    name: str
    x: str
    weights: Array
    bias: Array | None

    def build(self, builder: GraphBuilder, x: str, columns: Array) -> str:
        """Some of its columns, in this order."""
        dtype = builder.type(x).dtype
        found = builder.op("matmul", x, builder.constant(self.weights[:, columns].astype(dtype)))
        if self.bias is None:
            return found
        bias = self.bias if self.bias.size == 1 else self.bias.reshape(-1)[columns]
        return builder.op("add", found, builder.constant(bias.astype(dtype)))


def _made_by(reader: Reader, source: str) -> _Made | None:
    """The product that a tensor is, or is the sum of with a known bias."""
    bias, product = None, reader.producer(source, "matmul")
    if (total := reader.producer(source, "add")) is not None:
        for name, other in (total.inputs, total.inputs[::-1]):
            value, product = reader.value(other), product or reader.producer(name, "matmul")
            bias = bias if value is None else value
        if bias is None:
            return None
    if product is None:
        return None
    x, name = product.inputs
    weights = reader.value(name)
    if weights is None or weights.ndim != 2:
        return None
    known = bias is None or bias.size in {1, weights.shape[1]}
    return _Made(product.name, x, weights, bias) if known else None


def _own_product(reader: Reader, node: Node, outputs: set[str]) -> Match | None:
    """Heads (texts, heads, tokens, columns) of a product of several parts, by one of their own."""
    found = element_numbers(reader, node.name)
    made = None if found is None else _made_by(reader, found[0])
    if found is None or made is None or node.type.rank != 4 or not found[1].size:
        return None
    if found[1].size == reader.type(found[0]).size or found[0] in outputs:
        return None
    texts, heads, tokens, width = node.type.shape
    rows, columns = np.divmod(found[1].transpose(0, 2, 1, 3), made.weights.shape[1])
    order = columns[0, 0]
    every = np.arange(texts * tokens).reshape(texts, tokens, 1, 1)
    if not ((rows == every).all() and (columns == order).all()):
        return None

    def build(builder: GraphBuilder, operands: Sequence[str]) -> str:
        own = made.build(builder, operands[0], order.reshape(-1))
        own = builder.op("reshape", own, shape=(texts, tokens, heads, width))
        return builder.op("transpose", own, permutation=(0, 2, 1, 3))

    return Match(what="a product of its own", root=node.name, operands=(made.x,), build=build)


def _is_beside_orders(reader: Reader, readers: Mapping[str, list[Node]], node: Node) -> bool:
    """Whether other columns of what a tensor is a part of are reordered."""
    if any(reader.view(each.name) is not None for each in readers[node.name]):
        return False
    source, _ = reader.chain(node.name)
    behind = list(readers[source])
    for each in behind:
        if reader.view(each.name) is not None:
            behind += readers[each.name]
    return any(reader.order(each.name) is not None for each in behind)


def _sum(reader: Reader, node: Node, alone: set[str]) -> Match | None:
    """A sum of something else with that of two products, which nobody else reads."""
    for inner, other in (node.inputs, node.inputs[::-1]):
        total = reader.producer(inner, "add")
        if total is None or inner not in alone or _made_by(reader, other) is not None:
            continue
        parts = (*total.inputs, other)
        alike = all(reader.type(name) == node.type for name in parts)
        if alike and all(_made_by(reader, name) is not None for name in total.inputs):
            return Match(
                what="a sum in another order", root=node.name, operands=parts, build=_added
            )
    return None


def _added(builder: GraphBuilder, operands: Sequence[str]) -> str:
    first, second, other = operands
    return builder.op("add", first, builder.op("add", second, other))


def _columns(reader: Reader, node: Node, cols: int) -> NDArray[np.intp] | None:
    """The columns that a product must have instead of its own, so that `node` is no reordering."""
    plain, moved = (element_numbers(reader, name) for name in (node.inputs[0], node.name))
    if plain is None or moved is None:
        return None
    (rows, places), (other_rows, wanted) = (np.divmod(each[1], cols) for each in (plain, moved))
    order = np.full(cols, -1, np.intp)
    order[places] = wanted
    same = (order[places] == wanted).all() and (rows == other_rows).all()
    return order if same and (order >= 0).all() else None
