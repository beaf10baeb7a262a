"""What each head of an attention reads, and how its queries and keys are turned."""

from collections.abc import Callable, Container, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from celosia.sw.frontend.nn.graph import Node
from celosia.sw.frontend.recognize.reader import Reader
from celosia.sw.ir.graph import View
from celosia.sw.quantize.units.operands import Operands, Refused
from celosia.sw.quantize.units.units import Head, Rotation, Turn
from celosia.sw.quantize.units.values import Value

__all__ = ["HEAD_COLUMNS", "attention_heads", "find_rotation", "head_factors", "score_bias"]

HEAD_COLUMNS: Final = 16
"""Columns of heads that rotate or are normalized are a multiple of it: the usual arrays' tiles."""

ScaledQueries = tuple[str, Node, NDArray[np.float32]]
"""Queries, the product that multiplies them, and its factor for each head."""


def head_factors(
    reader: Reader, readers: Mapping[str, list[Node]], outputs: Container[str], node: Node
) -> ScaledQueries | None:
    """What the queries of `node` are a product of, that product, and its number for each head.

    Cosine attention has them (Swin v2).  None: queries are something else, or others read them.
    """
    found = reader.producer(node.inputs[0], "mul")
    if found is None or readers[found.name] != [node] or found.name in outputs:
        return None
    for queries, factor in (found.inputs, found.inputs[::-1]):
        factors, heads = reader.value(factor), found.type.shape[1]
        if factors is None or reader.type(queries) != found.type:
            continue
        shape = (1,) * (4 - factors.ndim) + factors.shape
        if shape == (1, heads, 1, 1) and np.isfinite(factors).all() and (factors > 0).all():
            return queries, found, factors.reshape(heads).astype(np.float32)
    return None


def score_bias(operands: Operands, node: Node, bias: str) -> Callable[[int, int], View]:
    """What is added to the scores of a text and head of `node`.  Raises `Refused`."""
    batch, heads, rows, _ = node.type.shape
    keys, shape = operands.reader.type(node.inputs[1]).shape[2], operands.reader.type(bias).shape
    texts, parts, queries, found = (1,) * (4 - len(shape)) + (*shape,)
    if found != keys:
        raise Refused("its bias is not one for each key")
    if texts not in {1, batch} or parts not in {1, heads} or queries not in {1, rows}:
        raise Refused(f"its bias is of {shape}")
    value = Value(bias, heads=True, copies=heads // parts, scores=node.name)
    whole_bias = operands.scores(value)
    return lambda text, head: whole_bias.part(
        row=text * queries if texts > 1 else 0, rows=queries, col=head * keys, cols=keys
    )


def attention_heads(
    operands: Operands,
    node: Node,
    out: View,
    onto: Callable[[int, int], View] | None,
    scaled: ScaledQueries | None,
) -> tuple[tuple[Head, ...], ...]:
    """The heads of each text of `node`, whose results are parts of `out`.

    Factors of `scaled` queries become part of scores.
    """
    batch, heads, rows, cols = node.type.shape
    queries, _, factors = scaled or (node.inputs[0], node, np.ones(heads, np.float32))
    query, key, value = (operands.heads(name) for name in (queries, *node.inputs[1:3]))
    shared, first = heads // len(key[0]), node.attributes["first_query"]
    window, ring = node.attributes.get("window"), node.attributes.get("ring")
    assert isinstance(first, int)
    assert window is None or isinstance(window, int)
    assert ring is None or isinstance(ring, int)
    return tuple(
        tuple(
            Head(
                query[text][head],
                key[text][head // shared],
                value[text][head // shared],
                out.part(row=text * rows, rows=rows, col=head * cols, cols=cols),
                None if onto is None else onto(text, head),
                first if node.attributes["causal"] else None,
                window if node.attributes["causal"] else None,
                ring,
                float(factors[head]),
            )
            for head in range(heads)
        )
        for text in range(batch)
    )


def find_rotation(operands: Operands, node: Node) -> Rotation:
    """The rotary embeddings of all heads of a tensor.  Raises `Refused`."""
    x, table = node.inputs
    if node.type.rank != 4:
        raise Refused("its operand is not (batch, heads, rows, columns)")
    batch, heads, rows, cols = node.type.shape
    kind = operands.reader.type(table)
    if kind.size not in {rows * cols, batch * rows * cols} or kind.shape[-2:] != (rows, cols):
        raise Refused("heads have angles of their own")
    if cols % HEAD_COLUMNS:
        raise Refused(f"heads of {cols} columns are no multiple of {HEAD_COLUMNS}")
    value = Value(node.name, heads=True)
    sources, out = operands.heads(x), value.whole(node.type)
    angles = operands.table(table)
    turns = [
        Turn(
            x=sources[text][head],
            table=angles.part(row=text * rows % angles.rows, rows=rows),
            out=out.part(row=text * rows, rows=rows, col=head * cols, cols=cols),
        )
        for text in range(batch)
        for head in range(heads)
    ]
    return Rotation(value=value, turns=tuple(turns), nodes=(node.name,))
