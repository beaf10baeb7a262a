"""Orders of columns: of heads, which attention does not see, and of products, which weights take.

A rotation of neighbouring columns is one of halves between two reorderings.  The one behind it
leaves the products of queries and keys as they are, if both have it; the one before it is an order
of the columns of the weights that make the rotation's operand.
"""

from collections.abc import Iterator, Sequence
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
        elif _order(reader, node.name) is not None:
            found = _product(reader, node, alone)
        else:
            continue
        if found is not None:
            yield found


def _order(reader: Reader, name: str) -> Array | None:
    """The order that a tensor has the columns of another one in, each of them once."""
    node = reader.view(name)
    if node is None or node.op != "gather":
        return None
    source, order = reader.type(node.inputs[0]), reader.value(node.inputs[1])
    if node.attributes["axis"] not in {-1, source.rank - 1} or order is None or order.ndim != 1:
        return None
    return order if np.array_equal(np.sort(order), range(source.shape[-1])) else None


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
    bias = np.zeros(1, np.float32)
    product = reader.producer(source, "matmul")
    if (total := reader.producer(source, "add")) is not None:
        for name, other in (total.inputs, total.inputs[::-1]):
            value, product = reader.value(other), product or reader.producer(name, "matmul")
            bias = bias if value is None else value
    if product is None:
        return None
    x, name = product.inputs
    weights, cols = reader.value(name), product.type.shape[-1]
    parts = {product.name, source, *(view.name for view in views[:-1])}
    if weights is None or weights.ndim != 2 or bias.size not in {1, cols} or parts - alone:
        return None
    order = _columns(reader, node, cols)
    if order is None:
        return None

    def build(builder: GraphBuilder, operands: Sequence[str]) -> str:
        (rows,) = operands
        dtype = builder.type(rows).dtype
        found = builder.op("matmul", rows, builder.constant(weights[:, order].astype(dtype)))
        if total is not None:
            moved = bias if bias.size == 1 else bias.reshape(-1)[order]
            found = builder.op("add", found, builder.constant(moved.astype(dtype)))
        return reader.replay(builder, found, views[:-1])

    what = "a product with its weights in another order"
    return Match(what=what, root=node.name, operands=(x,), build=build)


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
