"""Attention as ONNX Runtime's optimizer and its model builder write it."""

from dataclasses import dataclass
from math import sqrt
from typing import Final

import numpy as np

from celosia.sw.frontend.importer.handlers.attention import merge_heads, rotate, split_heads
from celosia.sw.frontend.importer.handlers.layout import part
from celosia.sw.frontend.importer.handlers.products import matmul
from celosia.sw.frontend.importer.handlers.registry import Handlers
from celosia.sw.frontend.importer.source.call import Call
from celosia.sw.frontend.importer.source.problems import Refusal
from celosia.sw.frontend.nn.operators.operator import expect

__all__ = ["FUSED_ATTENTION", "Places", "attention"]

FUSED_ATTENTION: Final = Handlers()

_HIDDEN: Final = -10000.0
"""What is added to the scores of keys that a mask hides."""


@FUSED_ATTENTION.of("Attention", but="a past in the buffer of the present, rotary embeddings")
def _attention(call: Call) -> list[str | None]:
    packed = matmul(call, call[0], call[1])
    return attention(call, packed, Places(bias=2, mask=3, past=4, added=5))


@dataclass(frozen=True)
class Places:
    """Where a node has the operands of an attention of packed queries, keys and values."""

    bias: int
    mask: int
    past: int
    added: int | None = None


def attention(call: Call, packed: str, places: Places) -> list[str | None]:
    """The attention of queries, keys and values in one tensor, whose bias is not added yet."""
    heads = call.attribute("num_heads")
    if call.optional(places.bias) is not None:
        packed = call.op("add", packed, call[places.bias])
    width = call.build.type(packed).shape[2]
    sizes = call.attribute("qkv_hidden_sizes", (width // 3,) * 3)
    query, key, value = _parts(call, packed, 2, sizes)
    query, key, value = (split_heads(call, each, heads) for each in (query, key, value))
    first = 0
    shared = call.attribute("past_present_share_buffer", 0)
    if call.optional(places.past) is not None and call.type(places.past).size:
        if shared:
            raise Refusal("a past in the buffer of the present is not supported")
        first = call.type(places.past).shape[3]
        key, value = (
            call.op("concat", _half(call, call[places.past], index), each, axis=2)
            for index, each in enumerate((key, value))
        )
    if call.attribute("do_rotary", 0):
        raise Refusal("rotary embeddings inside of it are not supported")
    added = None if places.added is None else call.optional(places.added)
    bias = _bias(call, query, key, call.optional(places.mask), added)
    found = _attend(call, query, key, value, bias, bool(call.attribute("unidirectional", 0)), first)
    return [merge_heads(call, found), _present(call, key, value)]


def _half(call: Call, both: str, index: int) -> str:
    """Keys or values of a tensor of both."""
    return call.reshape(part(call, both, 0, index, 1), call.build.type(both).shape[1:])


def _present(call: Call, key: str, value: str) -> str | None:
    """Keys and values in one tensor, if the node has an output for them."""
    if not call.wants(1):
        return None
    expect(
        call.build.type(key) == call.build.type(value),
        "its output of keys and values has parts of different sizes",
    )
    parts = [call.reshape(each, (1, *call.build.type(each).shape)) for each in (key, value)]
    return call.op("concat", *parts, axis=0)


def _parts(call: Call, x: str, axis: int, sizes: tuple[int, ...]) -> list[str]:
    """`x` cut into parts of these sizes along an axis."""
    whole = call.build.type(x).shape[axis]
    expect(sum(sizes) == whole, f"{sizes} are not the parts of {whole} columns")
    starts = np.cumsum([0, *sizes])
    return [part(call, x, axis, int(starts[i]), size) for i, size in enumerate(sizes)]


def _unpacked(call: Call, heads: int) -> list[str]:
    """Queries, keys and values: of three tensors, or those of them that one has, head by head."""
    names = [name for name in map(call.optional, range(3)) if name is not None]
    found: list[str] = []
    for name in names:
        shape = call.build.type(name).shape
        if len(shape) != 5:  # Not (batch, rows, heads, tensors in one, columns).
            found.append(name)
            continue
        expect(shape[2] == heads, f"{shape[2]} heads in one tensor are not {heads}")
        each = (part(call, name, 3, index, 1) for index in range(shape[3]))
        flat = (*shape[:2], heads * shape[4])
        found += [call.reshape(one, flat) for one in each]
    expect(len(found) == 3, f"its tensors have {len(found)} parts, not queries, keys and values")
    return found


@FUSED_ATTENTION.of("MultiHeadAttention", but="a bias of keys that are split into heads")
def _multi_head_attention(call: Call) -> list[str | None]:
    heads = call.attribute("num_heads")
    operands = _unpacked(call, heads)
    if call.optional(3) is not None:
        widths = [call.build.type(each).shape for each in operands]
        if any(len(shape) != 3 for shape in widths):
            raise Refusal("a bias of keys that are split into heads is not supported")
        biases = _parts(call, call[3], 0, tuple(shape[2] for shape in widths))
        pairs = zip(operands, biases, strict=True)
        operands = [call.op("add", each, bias) for each, bias in pairs]
    query, key, value = (
        split_heads(call, each, heads) if call.build.type(each).rank == 3 else each
        for each in operands
    )
    first = 0
    if call.optional(6) is not None:
        first = call.type(6).shape[2]
        key = call.op("concat", call[6], key, axis=2)
        value = call.op("concat", call[7], value, axis=2)
    bias = _bias(call, query, key, call.optional(4), call.optional(5))
    causal = bool(call.attribute("unidirectional", 0))
    found = _attend(call, query, key, value, bias, causal, first)
    return [merge_heads(call, found), key, value]


def _attend(
    call: Call, query: str, key: str, value: str, bias: list[str], causal: bool, first: int = 0
) -> str:
    scale = float(call.attribute("scale", 0.0)) or 1 / sqrt(call.build.type(query).shape[3])
    attributes = {"scale": scale, "causal": causal, "first_query": first}
    if cap := call.attribute("softcap", 0.0):
        attributes["cap"] = float(cap)
    return call.op("attention", query, key, value, *bias, **attributes)


def _bias(call: Call, query: str, key: str, mask: str | None, added: str | None) -> list[str]:
    """What is added to scores: that of a mask of keys, and a bias of the model's own."""
    hidden = float(call.attribute("mask_filter_value", _HIDDEN))
    found = [] if added is None else [added]
    if mask is not None:
        seen = _seen(call, mask, call.build.type(query).shape[0], call.build.type(key).shape[2])
        zero = call.scalar(0, query)
        found.append(call.op("where", seen, zero, call.scalar(hidden, query)))
    return [call.op("add", *found)] if len(found) == 2 else found


def _seen(call: Call, mask: str, batch: int, keys: int) -> str:
    """Which keys a mask shows, in any form that masks have, for (batch, heads, rows, keys)."""
    shape = call.build.type(mask).shape
    if shape == (batch,):  # The number of keys in each batch.
        lengths = call.reshape(call.op("cast", mask, to="int64"), (batch, 1, 1, 1))
        return call.op("less", call.indices(np.arange(keys)), lengths)
    apart = {
        (batch, keys): (batch, 1, 1, keys),
        (batch, *shape[1:2], keys): (batch, 1, *shape[1:2], keys),
        (batch, 1, *shape[2:3], keys): shape,
    }.get(shape)
    if apart is None:
        raise Refusal(f"its mask has shape {shape} for {batch} batches of {keys} keys")
    zero = call.scalar(0, mask)
    return call.op("not", call.op("equal", call.reshape(mask, apart), zero))


@FUSED_ATTENTION.of("RotaryEmbedding", but="a scale, packed batches")
def _rotary_embedding(call: Call) -> str:
    x, places, heads = call[0], call[1], call.attribute("num_heads", 0)
    if call.attribute("scale", 1.0) != 1 or call.attribute("is_packed_batching", 0):
        raise Refusal("a scale and packed batches are not supported")
    flat = call.type(0).rank == 3
    # Tables have the width of what turns, so that the attribute for it says nothing more.
    width, partial = 2 * call.type(2).shape[1], call.attribute("rotary_embedding_dim", 0)
    if flat:
        expect(heads > 0 or not partial, "part of each head turns, but it names no heads")
        x = split_heads(call, x, heads or call.type(0).shape[2] // width)
    batch, _, rows, _ = call.build.type(x).shape
    if call.type(1).size == 1:  # The place of the first row.
        places = call.op("add", call.reshape(places, (1, 1)), call.indices([range(rows)]))
        places = call.op("broadcast", places, shape=(batch, rows))
    tables = [call.op("gather", call[index], places, axis=0) for index in (2, 3)]
    found = rotate(call, x, tables, width, bool(call.attribute("interleaved", 0)))
    return merge_heads(call, found) if flat else found


@FUSED_ATTENTION.of("GroupQueryAttention", but="a past, a window")
def _group_query_attention(call: Call) -> list[str | None]:
    heads, shared = call.attribute("num_heads"), call.attribute("kv_num_heads")
    query = call[0]
    if call.optional(1) is None:
        each = call.type(0).shape[2] // (heads + 2 * shared)
        sizes = (heads * each, shared * each, shared * each)
        query, key, value = _parts(call, query, 2, sizes)
    else:
        key, value = call[1], call[2]
    for index in (3, 4):
        if call.optional(index) is not None and call.type(index).size:
            raise Refusal("keys and values of the past are not supported")
    # Without a past, both lengths only say which rows behind the prompt mean nothing.
    call.ignore_operands(5, 6)
    for name, plain in (("smooth_softmax", 0), ("local_window_size", -1)):
        if call.attribute(name, plain) != plain:
            raise Refusal(f"its attribute {name} is not supported")
    query = split_heads(call, query, heads)
    key, value = (split_heads(call, each, shared) for each in (key, value))
    interleaved = bool(call.attribute("rotary_interleaved", 0))
    if call.attribute("do_rotary", 0):
        rows, width = call.build.type(query).shape[2], 2 * call.type(7).shape[1]
        places = call.optional(9) or call.indices([range(rows)])
        tables = [call.op("gather", call[index], places, axis=0) for index in (7, 8)]
        query, key = (rotate(call, each, tables, width, interleaved) for each in (query, key))
    bias = [] if call.optional(10) is None else [call[10]]
    found = _attend(call, query, key, value, bias, causal=True)
    return [merge_heads(call, found), key, value]
