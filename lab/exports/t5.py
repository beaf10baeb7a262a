"""The encoder of T5: RMSNorm, scores that are not scaled, and a bias by relative positions."""

from typing import Any

import numpy as np
from onnx import TensorProto, numpy_helper

from celosia.lab.exports.writing import attention, masks
from celosia.lab.exports.writing.block import Block
from celosia.lab.exports.writing.size import Size
from celosia.lab.exports.writing.tape import END, Tape
from celosia.lab.exports.writing.weights import CONTEXT_POWER

__all__ = ["BUCKETS", "t5_encoder"]

TOKENS = ("batch", "sequence")
BUCKETS = 32
"""Kinds of distances that have a bias of their own, half of them for keys behind the query."""
EXACT = BUCKETS // 4
"""Distances from which on several share a bias."""
FARTHEST = 128
"""The distance from which on all share one."""


def t5_encoder(size: Size, seed: int, *, opset: int = 13) -> Any:
    """The model: token numbers and mask in, the last hidden state out."""
    tape = Tape("t5 encoder", opset)
    block = Block(tape, size, seed, biased=False)
    tokens = tape.input("input_ids", TensorProto.INT64, TOKENS)
    mask = tape.input("attention_mask", TensorProto.INT64, TOKENS)
    with tape.inside("encoder"):
        length = tape.size(tokens, 1)
        x = block.lookup("embed_tokens", tape.reshape(tokens, -1, length), size.vocabulary)
        bias = masks.padding(tape, mask)
        for layer in range(size.layers):
            with tape.inside(f"block.{layer}"):
                x, bias = _layer(block, x, bias, first=layer == 0)
        x = block.rms_norm("final_layer_norm", x)
    tape.output(x, "last_hidden_state", (*TOKENS, size.width))
    return tape.model()


def _layer(block: Block, x: str, bias: str, *, first: bool) -> tuple[str, str]:
    """The layer, and the bias of its scores, which the first makes of that of padding."""
    tape, size = block.tape, block.size
    with tape.inside("layer.0"):
        normed = block.rms_norm("layer_norm", x)
        with tape.inside("SelfAttention"):
            context, bias = _attention(block, normed, bias, first=first)
            joined = block.join("o", context, size.width, CONTEXT_POWER)
        x = tape.op("Add", x, joined)
    with tape.inside("layer.1"):
        normed = block.rms_norm("layer_norm", x)
        with tape.inside("DenseReluDense"):
            hidden = block.read("wi", normed, size.hidden)
            with tape.inside("act"):
                hidden = tape.op("Relu", hidden)
            joined = block.join("wo", hidden, size.hidden)
        return tape.op("Add", x, joined), bias


def _attention(block: Block, x: str, bias: str, *, first: bool) -> tuple[str, str]:
    tape, size = block.tape, block.size
    batch = tape.size(x, 0)
    shape = (batch, -1, size.heads, size.head_width)
    scale = size.head_width**0.5  # Scores are not divided by it: the weights are smaller.
    queries = attention.split(tape, block.score("q", x, size.width, scale), *shape)
    keys = block.score("k", x, size.width, scale)
    keys = attention.split(tape, keys, *shape, transpose=False)
    values = attention.split(tape, block.read("v", x, size.width), *shape)
    operands = attention.Operands(queries, keys, values, size.head_width)
    scores = tape.op("MatMul", operands.queries, operands.transposed_keys(tape))
    if first:
        bias = tape.op("Add", _relative_bias(block, x), bias)
    scores = tape.cast(tape.op("Add", scores, bias), TensorProto.FLOAT)
    probabilities = tape.op("Softmax", scores, axis=-1)
    context = tape.op("MatMul", probabilities, operands.values)
    return attention.merge(tape, context, batch, -1, size.width), bias


def _relative_bias(block: Block, x: str) -> str:
    """A bias (1, heads, queries, keys): distances, their buckets, the buckets' biases."""
    tape, size = block.tape, block.size
    length = tape.size(x, 1)
    limit = tape.cast(length, TensorProto.INT64)
    numbers = tape.op("Range", tape.constant(0), limit, tape.constant(1))
    queries = tape.cast(tape.unsqueeze(numbers, 1), TensorProto.INT64)
    distances = tape.op("Sub", tape.unsqueeze(numbers, 0), queries)
    behind = tape.cast(tape.op("Greater", distances, tape.constant(0)), TensorProto.INT64)
    half = tape.op("Mul", behind, tape.constant(BUCKETS // 2))
    half = tape.op("Add", half, tape.constant(0))
    distances = tape.op("Abs", distances)
    near = tape.op("Less", distances, tape.constant(EXACT))
    bucket = tape.op("Where", near, distances, _far_buckets(tape, distances))
    name = block.name("relative_attention_bias.weight")
    table = block.source.normal(name, (BUCKETS, size.heads), 1)
    with tape.inside("relative_attention_bias"):
        biases = tape.op("Gather", tape.weight(name, table), tape.op("Add", half, bucket))
    whole = tape.unsqueeze(tape.op("Transpose", biases, perm=[2, 0, 1]), 0)
    return tape.slice(whole, tape.op("Neg", length), END, 2)


def _far_buckets(tape: Tape, distances: str) -> str:
    """Buckets of distances from `EXACT` on, as the logarithm of the distance grows."""
    ratio = tape.op("Div", tape.cast(distances, TensorProto.FLOAT), tape.number(EXACT))
    share = tape.op("Div", tape.op("Log", ratio), tape.number(np.log(FARTHEST / EXACT)))
    more = tape.cast(tape.op("Mul", share, tape.number(EXACT)), TensorProto.INT64)
    bucket = tape.op("Add", more, tape.constant(EXACT))
    last = tape.op(
        "ConstantOfShape",
        tape.op("Shape", bucket),
        value=numpy_helper.from_array(np.array([BUCKETS // 2 - 1], np.int64)),
    )
    return tape.op("Min", bucket, last)
