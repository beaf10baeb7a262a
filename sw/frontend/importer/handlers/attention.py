"""Attention and rotary embeddings of ONNX, opsets 23 and newer."""

from math import inf, sqrt
from typing import Final

import numpy as np

from celosia.sw.frontend.importer.handlers.layout import part
from celosia.sw.frontend.importer.handlers.products import swapped
from celosia.sw.frontend.importer.handlers.registry import Handlers
from celosia.sw.frontend.importer.source.call import Call
from celosia.sw.frontend.importer.source.problems import Refusal
from celosia.sw.frontend.nn.operators.operator import expect

__all__ = ["ATTENTION", "merge_heads", "rotate", "split_heads"]

ATTENTION: Final = Handlers()


def split_heads(call: Call, x: str, heads: int) -> str:
    """(batch, rows, heads * columns) to (batch, heads, rows, columns)."""
    batch, rows, width = call.build.type(x).shape
    expect(heads > 0 and width % heads == 0, f"{width} columns are not {heads} heads")
    apart = call.reshape(x, (batch, rows, heads, width // heads))
    return call.op("transpose", apart, permutation=(0, 2, 1, 3))


def merge_heads(call: Call, x: str) -> str:
    """(batch, heads, rows, columns) to (batch, rows, heads * columns)."""
    batch, heads, rows, cols = call.build.type(x).shape
    together = call.op("transpose", x, permutation=(0, 2, 1, 3))
    return call.reshape(together, (batch, rows, heads * cols))


@ATTENTION.of("Attention")
def _attention(call: Call) -> list[str | None]:
    query, key, value = call[0], call[1], call[2]
    flat = call.type(0).rank == 3
    heads = call.attribute("q_num_heads", None), call.attribute("kv_num_heads", None)
    if flat:
        expect(None not in heads, "its operands have three axes, but it names no heads")
        query = split_heads(call, query, heads[0])
        key, value = (split_heads(call, each, heads[1]) for each in (key, value))
    call.ignore("softmax_precision")
    scale = float(call.attribute("scale", 1 / sqrt(call.build.type(query).shape[3])))
    first = 0
    if call.optional(4) is not None:
        first = call.type(4).shape[2]
        key = call.op("concat", call[4], key, axis=2)
        value = call.op("concat", call[5], value, axis=2)
    causal = bool(call.attribute("is_causal", 0))
    softcap, mode = call.attribute("softcap", 0.0), call.attribute("qk_matmul_output_mode", 0)
    if not 0 <= softcap < inf:
        raise Refusal(f"its softcap {softcap} is none: a positive finite number, or 0 for no cap")
    spelled = call.wants(3)
    # Whose frontier is another one in each batch cannot be told by one number.
    as_bias = causal and (spelled or call.optional(6) is not None)
    bias = _bias(call, query, key, as_bias, first)
    found = None
    if spelled:
        attended, found = _spelled(call, (query, key, value), bias, scale, softcap, mode)
    else:
        attributes = {"scale": scale, "causal": causal and not as_bias, "first_query": first}
        if softcap:
            attributes["cap"] = float(softcap)
        attended = call.op("attention", query, key, value, *bias, **attributes)
    return [merge_heads(call, attended) if flat else attended, key, value, found]


def _bias(call: Call, query: str, key: str, causal: bool, first: int) -> list[str]:
    """What is added to scores, if anything is: of all masks, and the causal one if `causal`."""
    parts: list[str] = []
    rows, keys = call.build.type(query).shape[2], call.build.type(key).shape[2]
    lowest = call.scalar(-np.inf, query)
    lengths = call.optional(6)
    if call.optional(3) is not None:
        mask = call[3]
        given = call.type(3).shape
        if call.type(3).dtype == "bool":
            mask = call.op("where", mask, call.scalar(0, query), lowest)
        short = keys - given[-1]
        if short > 0:
            zeros = (0,) * len(given)
            mask = call.op("pad", mask, lowest, before=zeros, after=(*zeros[:-1], short))
        parts.append(mask)
    behind: str | None = None
    if lengths is not None:
        size = call.type(6).size
        lengths = call.reshape(call.op("cast", lengths, to="int64"), (size, 1, 1, 1))
        inside = call.op("less", call.indices(np.arange(keys)), lengths)
        parts.append(call.op("where", inside, call.scalar(0, query), lowest))
        # The position of each query, less its row.
        behind = call.op("sub", lengths, call.indices(rows))
    windows = [call.attribute(f"{side}_window_size", -1) for side in ("left", "right")]
    if causal:
        parts.append(_frontier(call, query, key, behind, first, 0))
    if windows[1] >= 0:
        parts.append(_frontier(call, query, key, behind, first, windows[1]))
    if windows[0] >= 0:
        parts.append(_frontier(call, query, key, behind, first, windows[0], left=True))
    while len(parts) > 1:
        parts[:2] = [call.op("add", parts[0], parts[1])]
    return parts


def _frontier(
    call: Call, query: str, key: str, behind: str | None, first: int, reach: int, left: bool = False
) -> str:
    """A bias that hides keys more than `reach` right (or left) of each query's position."""
    rows, keys = call.build.type(query).shape[2], call.build.type(key).shape[2]
    places = call.indices(np.arange(rows)[:, None] + (0 if behind else first))
    if behind is not None:
        places = call.op("add", places, behind)
    columns = call.indices(np.arange(keys)[None, :])
    if left:
        least = call.op("sub", places, call.indices(reach))
        seen = call.op("less_equal", least, columns)
    else:
        seen = call.op("less_equal", columns, call.op("add", places, call.indices(reach)))
    return call.op("where", seen, call.scalar(0, query), call.scalar(-np.inf, query))


def _spelled(
    call: Call,
    operands: tuple[str, str, str],
    bias: list[str],
    scale: float,
    softcap: float,
    mode: int,
) -> tuple[str, str]:
    """Attention by its products: the context, and the scores after as many steps as `mode` says."""
    query, key, value = operands
    groups = call.build.type(query).shape[1] // max(1, call.build.type(key).shape[1])
    if groups > 1:
        key, value = (_repeated(call, each, groups) for each in (key, value))
    scores = call.op("matmul", query, swapped(call, key))
    steps = [call.op("mul", scores, call.scalar(scale, scores))]
    if softcap:
        cap = call.scalar(softcap, scores)
        steps.append(call.op("mul", call.op("tanh", call.op("div", steps[-1], cap)), cap))
    else:
        steps.append(steps[-1])
    # From opset 24 on the cap comes before the mask, and the steps are counted in this order.
    steps.append(call.op("add", steps[-1], bias[0]) if bias else steps[-1])
    weights = call.op("softmax", steps[-1], axis=3)
    if bias:
        highest = call.op("reduce_max", bias[0], axes=(-1,), keepdims=True)
        hidden = call.op("equal", highest, call.scalar(-np.inf, highest))
        weights = call.op("where", hidden, call.scalar(0, weights), weights)
    steps.append(weights)
    if mode not in range(4):
        raise Refusal(f"its qk_matmul_output_mode {mode} is not in 0..3")
    return call.op("matmul", weights, value), steps[mode]


def _repeated(call: Call, x: str, times: int) -> str:
    """Each head `times` times, beside itself."""
    batch, heads, rows, cols = call.build.type(x).shape
    apart = call.reshape(x, (batch, heads, 1, rows, cols))
    wide = call.op("broadcast", apart, shape=(batch, heads, times, rows, cols))
    return call.reshape(wide, (batch, heads * times, rows, cols))


@ATTENTION.of("RotaryEmbedding")
def _rotary_embedding(call: Call) -> str:
    x, heads = call[0], call.attribute("num_heads", 0)
    interleaved = bool(call.attribute("interleaved", 0))
    width = call.attribute("rotary_embedding_dim", 0)
    flat = call.type(0).rank == 3
    if flat:
        expect(heads > 0, "its operand has three axes, but it names no heads")
        x = split_heads(call, x, heads)
    tables = [call[1], call[2]]
    if call.optional(3) is not None:
        tables = [call.op("gather", table, call[3], axis=0) for table in tables]
    found = rotate(call, x, tables, width or call.build.type(x).shape[3], interleaved)
    return merge_heads(call, found) if flat else found


def rotate(call: Call, x: str, tables: list[str], width: int, interleaved: bool) -> str:
    """The first `width` columns of each head, turned by angles of (batch, rows, width / 2)."""
    *_, rows, cols = call.build.type(x).shape
    half = width // 2
    cosine, sine = (
        call.reshape(table, (call.build.type(table).shape[0], 1, rows, half)) for table in tables
    )
    # Neighbours become halves, and are put back behind the rotation.
    order = [*range(0, width, 2), *range(1, width, 2), *range(width, cols)]
    if interleaved:
        x = call.op("gather", x, call.indices(order), axis=3)
    first, second = (part(call, x, 3, start, half) for start in (0, half))
    real = call.op("sub", call.op("mul", cosine, first), call.op("mul", sine, second))
    imaginary = call.op("add", call.op("mul", sine, first), call.op("mul", cosine, second))
    rest = [] if width == cols else [part(call, x, 3, width, cols - width)]
    turned = call.op("concat", real, imaginary, *rest, axis=3)
    if interleaved:
        turned = call.op("gather", turned, call.indices(np.argsort(order)), axis=3)
    return turned
