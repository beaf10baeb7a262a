"""Llama: RMSNorm as a chain, SwiGLU, rotary embeddings, and queries in groups that share keys."""

from typing import Any

import numpy as np
from onnx import TensorProto

from celosia.lab.exports.writing import attention, caches, masks
from celosia.lab.exports.writing.block import Block
from celosia.lab.exports.writing.modules import silu
from celosia.lab.exports.writing.size import Size
from celosia.lab.exports.writing.tape import END, Tape
from celosia.lab.exports.writing.weights import CONTEXT_POWER

__all__ = ["llama"]

TOKENS = ("batch", "sequence")
EPSILON = 1e-5
WORD_SPREAD = 0.02
"""Standard deviation of embeddings: so small that the first norm feels its epsilon."""
BASE = 10_000
"""The base of the wavelengths of rotary embeddings."""

_Waves = tuple[str, str]
"""Cosines and sines (1, 1, tokens, head width), the same in both halves of a head."""


def llama(size: Size, seed: int, *, opset: int = 14, cached: bool = False) -> Any:
    """The model with its head: token numbers and mask in, logits out.

    `cached`: and keys and values of tokens before in, those of all out.
    """
    tape = Tape("llama", opset)
    block = Block(tape, size, seed, biased=False)
    tokens = tape.input("input_ids", TensorProto.INT64, TOKENS)
    cache = caches.Cache(tape, size, size.key_heads) if cached else None
    mask = tape.input("attention_mask", TensorProto.INT64, caches.mask_sizes(cache))
    with tape.inside("model"):
        x = block.lookup("embed_tokens", tokens, size.vocabulary, WORD_SPREAD)
        bias = masks.causal(tape, mask, x, cache and cache.length(0))
        cosines, sines = _waves(block, x, cache)
        for layer in range(size.layers):
            with tape.inside(f"layers.{layer}"):
                x = _layer(block, x, bias, (cosines, sines), cache and cache.layer(layer))
        x = block.rms_norm("norm", x, EPSILON)
    logits = block.read("lm_head", x, size.vocabulary)
    tape.output(logits, "logits", (*TOKENS, size.vocabulary))
    if cache:
        cache.write_outputs()
    return tape.model()


def _waves(block: Block, x: str, cache: caches.Cache | None) -> _Waves:
    """Cosines and sines (1, 1, tokens, head width), the same in both halves of a head."""
    tape, width = block.tape, block.size.head_width
    with tape.inside("rotary_emb"):
        limit = tape.cast(tape.size(x, 1), TensorProto.INT64)
        numbers = caches.positions(tape, cache, limit)
        places = tape.cast(tape.unsqueeze(tape.unsqueeze(numbers, 0), 1), TensorProto.FLOAT)
        frequencies = (BASE ** -(np.arange(0, width, 2) / width)).astype(np.float32)
        angles = tape.op(
            "MatMul", tape.constant(frequencies[np.newaxis, :, np.newaxis], np.float32), places
        )
        angles = tape.op("Transpose", angles, perm=[0, 2, 1])
        angles = tape.op("Concat", angles, angles, axis=-1)
        return tape.unsqueeze(tape.op("Cos", angles), 1), tape.unsqueeze(tape.op("Sin", angles), 1)


def _layer(block: Block, x: str, bias: str, waves: _Waves, cache: caches.LayerCache | None) -> str:
    tape, size = block.tape, block.size
    normed = block.rms_norm("input_layernorm", x, EPSILON)
    with tape.inside("self_attn"):
        context = _attention(block, normed, bias, waves, cache)
        x = tape.op("Add", x, block.join("o_proj", context, size.width, CONTEXT_POWER))
    normed = block.rms_norm("post_attention_layernorm", x, EPSILON)
    with tape.inside("mlp"):
        gate = block.read("gate_proj", normed, size.hidden)
        with tape.inside("act_fn"):
            gate = silu(tape, gate)
        hidden = tape.op("Mul", gate, block.read("up_proj", normed, size.hidden))
        joined = block.join("down_proj", hidden, size.hidden)
    return tape.op("Add", x, joined)


def _attention(
    block: Block, x: str, bias: str, waves: _Waves, cache: caches.LayerCache | None
) -> str:
    tape, size = block.tape, block.size
    width, batch, length = size.head_width, tape.size(x, 0), tape.size(x, 1)
    narrow = size.key_heads * width
    parts = []
    for linear, heads in (
        (block.score("q_proj", x, size.width), size.heads),
        (block.score("k_proj", x, narrow), size.key_heads),
        (block.read("v_proj", x, narrow), size.key_heads),
    ):
        parts.append(attention.split(tape, linear, batch, length, heads, width))
    queries, keys = (_rotated(block, part, *waves) for part in parts[:2])
    values = parts[2]
    if cache:
        keys, values = cache.extended(keys, values)
    keys, values = (_repeated(block, part) for part in (keys, values))
    scores = tape.op("MatMul", queries, tape.op("Transpose", keys, perm=[0, 1, 3, 2]))
    scores = tape.op("Div", scores, tape.number(width**0.5))
    probabilities = tape.op("Softmax", tape.op("Add", scores, bias), axis=-1)
    probabilities = tape.cast(probabilities, TensorProto.FLOAT)
    context = tape.op("MatMul", probabilities, values)
    return attention.merge(tape, context, batch, length, size.width)


def _rotated(block: Block, x: str, cosines: str, sines: str) -> str:
    """``x * cos + rotate_half(x) * sin``; half of a head is computed from the tensor's shape."""
    tape = block.tape
    half = tape.op("Div", tape.size(x, 3), tape.constant(2))
    first, second = tape.slice(x, 0, half, 3), tape.slice(x, half, END, 3)
    turned = tape.op("Concat", tape.op("Neg", second), first, axis=-1)
    return tape.op("Add", tape.op("Mul", x, cosines), tape.op("Mul", turned, sines))


def _repeated(block: Block, x: str) -> str:
    """Heads of keys or values, once for each head of queries that reads them."""
    tape, size = block.tape, block.size
    sizes = [tape.size(x, axis) for axis in range(4)]
    times = size.heads // size.key_heads
    whole = tape.expand(tape.unsqueeze(x, 2), *sizes[:2], times, *sizes[2:])
    heads = tape.op("Mul", sizes[1], tape.constant(times))
    return tape.reshape(whole, sizes[0], heads, *sizes[2:])
