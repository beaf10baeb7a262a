"""Biases of keys, which softmax does not see: they move all scores of a row by the same number.

Where such a bias is much larger than the keys around it, their int8 would hold little else, so it
is left out.  A smaller one stays: it costs nothing, and keys keep the numbers of the file.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.graph import Node
from celosia.sw.frontend.recognize.reader import Reader
from celosia.sw.frontend.recognize.rewrite import Match

__all__ = ["find_key_biases"]

_LARGE: Final = 4.0
"""A bias is large from so many times on what its column has of rows whose elements are around 1."""


def find_key_biases(reader: Reader) -> Iterator[Match]:
    """Attention whose keys are a product with a large bias that nobody else reads."""
    readers, outputs = reader.graph.readers(), set(reader.graph.outputs.values())
    alone = {name for name, found in readers.items() if len(found) == 1} - outputs
    for node in reader.nodes:
        # What all scores of a row share is still seen behind a cap.
        plain = node.op == "attention" and "cap" not in node.attributes
        found = _match(reader, node, alone) if plain else None
        if found is not None:
            yield found


def _match(reader: Reader, node: Node, alone: set[str]) -> Match | None:
    query, key, *rest = node.inputs
    source, views = reader.chain(key)
    total = reader.producer(source, "add")
    shared = any(reader.chain(name)[0] == source for name in (query, *rest))
    if total is None or shared or {source, *(view.name for view in views)} - alone:
        return None
    product = _without_bias(reader, total)
    if product is None:
        return None

    def build(builder: GraphBuilder, operands: Sequence[str]) -> str:
        q, k, *others = operands
        attributes: dict[str, Any] = dict(node.attributes)
        return builder.op("attention", q, reader.replay(builder, k, views), *others, **attributes)

    what = "attention without the bias of its keys"
    return Match(what=what, root=node.name, operands=(query, product, *rest), build=build)


def _without_bias(reader: Reader, total: Node) -> str | None:
    """The product that `total` adds a large bias to: a number for each column."""
    for name, other in (total.inputs, total.inputs[::-1]):
        bias, product = reader.value(other), reader.producer(name, "matmul")
        if bias is None or product is None:
            continue
        weights = reader.value(product.inputs[1])
        if weights is None or weights.ndim != 2 or product.type != total.type:
            return None
        cols = weights.shape[1]
        spread = np.sqrt(np.square(weights.astype(np.float64)).sum(axis=0))
        each = bias.shape in {(cols,), (1, cols)}
        return product.name if each and (np.abs(bias) > _LARGE * spread).any() else None
    return None
