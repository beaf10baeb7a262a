"""What each head of an attention reads."""

from collections.abc import Callable

from celosia.sw.frontend.nn.graph import Node
from celosia.sw.ir.graph import View
from celosia.sw.quantize.units.operands import Operands, Refused
from celosia.sw.quantize.units.units import Head
from celosia.sw.quantize.units.values import Value

__all__ = ["attention_heads", "score_bias"]


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
    operands: Operands, node: Node, out: View, onto: Callable[[int, int], View] | None
) -> tuple[tuple[Head, ...], ...]:
    """The heads of each text of `node`, whose results are parts of `out`."""
    batch, heads, rows, cols = node.type.shape
    query, key, value = (operands.heads(name) for name in node.inputs[:3])
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
            )
            for head in range(heads)
        )
        for text in range(batch)
    )
