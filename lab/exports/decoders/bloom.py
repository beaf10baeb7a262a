"""BLOOM: no positions but ALiBi, a bias of scores that grows from key to key, steeper by head."""

from typing import Any

import numpy as np
from onnx import TensorProto

from celosia.lab.exports.writing import caches, masks
from celosia.lab.exports.writing.block import Block
from celosia.lab.exports.writing.decoder import begin
from celosia.lab.exports.writing.size import Size
from celosia.lab.exports.writing.tape import Tape
from celosia.lab.exports.writing.weights import CONTEXT_POWER

__all__ = ["bloom"]


def bloom(size: Size, seed: int, *, opset: int = 14, cached: bool = False) -> Any:
    """The model with its head: token numbers and mask in, logits out.

    `cached`: and keys and values of tokens before in, those of all out.
    """
    tape = Tape("bloom", opset)
    block = Block(tape, size, seed)
    decoder = begin(block, size.heads, cached=cached)
    tokens, mask = decoder.tokens, decoder.mask
    with tape.inside("transformer"):
        x = block.lookup_words("word_embeddings", tokens)
        x = block.layer_norm("word_embeddings_layernorm", x)
        slopes = _slopes(tape, size.heads, mask)
        bias = masks.causal_by_scatter(tape, mask, tokens, decoder.before())
        for layer in range(size.layers):
            with tape.inside(f"h.{layer}"):
                x = _layer(block, x, (slopes, bias), decoder.layer(layer))
        x = block.layer_norm("ln_f", x)
    logits = block.head("lm_head", x, "transformer.word_embeddings.weight")
    return decoder.finish(logits)


def _slopes(tape: Tape, heads: int, mask: str) -> str:
    """ALiBi (texts * heads, 1, keys): positions of keys times the slope of each head."""
    slopes = (2.0 ** (-8 / heads)) ** np.arange(1, heads + 1)
    counted = tape.op("CumSum", mask, tape.constant(-1, np.int32))
    places = tape.op("Mul", tape.op("Sub", counted, tape.constant(1)), mask)
    places = tape.cast(tape.unsqueeze(places, 1), TensorProto.FLOAT)
    biases = tape.op("Mul", tape.constant(slopes[:, np.newaxis], np.float32), places)
    rows = tape.op("Mul", tape.size(mask, 0), tape.constant(heads))
    return tape.reshape(biases, rows, 1, tape.size(mask, 1))


def _layer(block: Block, x: str, biases: tuple[str, str], cache: caches.LayerCache | None) -> str:
    tape, size = block.tape, block.size
    normed = block.layer_norm("input_layernorm", x)
    with tape.inside("self_attention"):
        context = _attention(block, normed, biases, cache)
        x = tape.op("Add", x, block.join("dense", context, size.width, CONTEXT_POWER))
    normed = block.layer_norm("post_attention_layernorm", x)
    with tape.inside("mlp"):
        hidden = block.read("dense_h_to_4h", normed, size.hidden)
        with tape.inside("gelu_impl"):
            hidden = _gelu(tape, hidden)
        joined = block.join("dense_4h_to_h", hidden, size.hidden)
    return tape.op("Add", x, joined)


def _attention(
    block: Block, x: str, biases: tuple[str, str], cache: caches.LayerCache | None
) -> str:
    """Texts and heads are one axis in both products; the slopes are added by ``baddbmm``."""
    tape, size = block.tape, block.size
    batch, length, width = tape.size(x, 0), tape.size(x, 1), size.head_width
    packed = tape.reshape(
        block.read_heads("query_key_value", x), batch, length, size.heads, 3, width
    )
    queries, keys, values = (
        tape.op(
            "Transpose", tape.op("Gather", packed, tape.constant(part), axis=3), perm=[0, 2, 1, 3]
        )
        for part in range(3)
    )
    if cache:
        keys, values = cache.extended(keys, values)
    rows = tape.op("Mul", batch, tape.constant(size.heads))
    queries, keys, values = (
        tape.reshape(part, rows, -1, width) for part in (queries, keys, values)
    )
    slopes, bias = biases
    scores = tape.op("MatMul", queries, tape.op("Transpose", keys, perm=[0, 2, 1]))
    scores = tape.op("Mul", scores, tape.number(width**-0.5))
    scores = tape.op("Add", scores, tape.op("Mul", slopes, tape.number(1)))
    scores = tape.op("Add", tape.reshape(scores, batch, size.heads, length, -1), bias)
    probabilities = tape.cast(tape.op("Softmax", scores, axis=-1), TensorProto.FLOAT)
    probabilities = tape.reshape(probabilities, rows, length, -1)
    context = tape.op("MatMul", probabilities, values)
    context = tape.reshape(context, batch, size.heads, length, width)
    return tape.reshape(tape.op("Transpose", context, perm=[0, 2, 1, 3]), batch, length, size.width)


def _gelu(tape: Tape, x: str) -> str:
    """GELU by tanh, as BLOOM has it."""
    half = tape.op("Mul", x, tape.number(0.5))
    near = tape.op("Mul", x, tape.number(np.sqrt(2 / np.pi)))
    cube = tape.op("Mul", tape.op("Mul", x, tape.number(0.044715)), x)
    inner = tape.op("Mul", near, tape.op("Add", cube, tape.number(1)))
    return tape.op("Mul", half, tape.op("Add", tape.op("Tanh", inner), tape.number(1)))
