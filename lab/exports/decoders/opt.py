"""OPT: a pre-normalized decoder, whose feed-forward network is Gemm on rows of all tokens."""

from typing import Any

import numpy as np
from onnx import TensorProto

from celosia.lab.exports.writing import attention, caches, masks
from celosia.lab.exports.writing.block import Block
from celosia.lab.exports.writing.decoder import begin
from celosia.lab.exports.writing.size import Size
from celosia.lab.exports.writing.tape import END, Tape
from celosia.lab.exports.writing.weights import CONTEXT_POWER

__all__ = ["opt"]

POSITION_SPREAD = 0.1
OFFSET = 2
"""Rows of the table of positions that no token has."""


def opt(size: Size, seed: int, *, opset: int = 17, cached: bool = False) -> Any:
    """The model with its head: token numbers and mask in, logits out.

    `cached`: and keys and values of tokens before in, those of all out.
    """
    tape = Tape("opt", opset)
    block = Block(tape, size, seed, prefix="model")
    decoder = begin(block, size.heads, cached=cached)
    tokens, mask = decoder.tokens, decoder.mask
    with tape.inside("decoder"):
        words = tape.reshape(tokens, -1, tape.size(tokens, 1))
        words = block.lookup_words("embed_tokens", words)
        bias = masks.causal_by_scatter(tape, mask, words, decoder.before())
        x = tape.op(
            "Add", words, tape.cast(_positions(block, mask, decoder.cache), TensorProto.FLOAT)
        )
        for layer in range(size.layers):
            with tape.inside(f"layers.{layer}"):
                x = _layer(block, x, bias, decoder.layer(layer))
        x = block.layer_norm("final_layer_norm", x)
    logits = block.head("lm_head", x, "model.decoder.embed_tokens.weight")
    return decoder.finish(logits)


def _positions(block: Block, mask: str, cache: caches.Cache | None) -> str:
    """Positions count the tokens that the mask shows."""
    tape = block.tape
    counted = tape.op("CumSum", mask, tape.constant(1, np.int32))
    counted = tape.op("Mul", counted, mask)
    numbers = tape.cast(tape.op("Sub", counted, tape.constant(1)), TensorProto.INT64)
    if cache:
        numbers = tape.slice(numbers, cache.length(0), END, 1)
    with tape.inside("embed_positions"):
        numbers = tape.op("Add", numbers, tape.constant(OFFSET))
    return block.lookup("embed_positions", numbers, block.size.positions + OFFSET, POSITION_SPREAD)


def _layer(block: Block, x: str, bias: str, cache: caches.LayerCache | None) -> str:
    tape, size = block.tape, block.size
    normed = block.layer_norm("self_attn_layer_norm", x)
    with tape.inside("self_attn"):
        context = _attention(block, normed, bias, cache)
        x = tape.op("Add", x, block.join("out_proj", context, size.width, CONTEXT_POWER))
    sizes = [tape.size(x, axis) for axis in range(3)]
    bounds = (tape.constant([value]) for value in (-1, END, 0))
    width = tape.op("Slice", tape.op("Shape", x), *bounds)
    width = tape.op("Squeeze", width, tape.constant([0]))
    rows = tape.reshape(x, -1, width)
    hidden = block.read_rows("fc1", block.layer_norm("final_layer_norm", rows), size.hidden)
    with tape.inside("activation_fn"):
        hidden = tape.op("Relu", hidden)
    joined = block.join_rows("fc2", hidden, size.hidden)
    return tape.reshape(tape.op("Add", rows, joined), *sizes)


def _attention(block: Block, x: str, bias: str, cache: caches.LayerCache | None) -> str:
    tape, size = block.tape, block.size
    batch, length = tape.size(x, 0), tape.size(x, 1)
    queries = attention.scaled(tape, block.score("q_proj", x, size.width), size.head_width)
    shape = (batch, -1, size.heads, size.head_width)
    queries = attention.split(tape, queries, *shape)
    scored = block.score("k_proj", x, size.width)
    keys = attention.split(tape, scored, *shape, transpose=cache is not None)
    values = attention.split(tape, block.read("v_proj", x, size.width), *shape)
    if cache:
        keys, values = cache.extended(keys, values)
        keys = tape.op("Transpose", keys, perm=[0, 2, 1, 3])
    operands = attention.Operands(queries, keys, values, size.head_width)
    context = attention.eager(tape, operands, bias, factor=1, casts=2)
    return attention.merge(tape, context, batch, length, -1)
