"""GPT-2: products by Gemm between reshapes, a causal mask by Where over a slice of a triangle."""

from typing import Any

import numpy as np

from celosia.lab.exports.writing import attention, caches, masks
from celosia.lab.exports.writing.block import Block
from celosia.lab.exports.writing.decoder import begin
from celosia.lab.exports.writing.modules import gelu_tanh
from celosia.lab.exports.writing.size import Size
from celosia.lab.exports.writing.tape import Tape
from celosia.lab.exports.writing.weights import CONTEXT_POWER, Floats

__all__ = ["gpt2"]

POSITION_SPREAD = 0.1


def gpt2(size: Size, seed: int, *, opset: int = 13, cached: bool = False) -> Any:
    """The model with its head: token numbers and mask in, logits out.

    `cached`: and keys and values of tokens before in, those of all out.
    """
    tape = Tape("gpt2", opset)
    block = Block(tape, size, seed)
    decoder = begin(block, size.heads, cached=cached)
    tokens, mask = decoder.tokens, decoder.mask
    with tape.inside("transformer"):
        batch, length = tape.size(tokens, 0), tape.size(tokens, 1)
        numbers = caches.positions(tape, decoder.cache, length)
        places = tape.reshape(tape.unsqueeze(numbers, 0), -1, length)
        bias = masks.padding(tape, tape.reshape(mask, batch, -1))
        words = block.lookup_words("wte", tape.reshape(tokens, -1, length))
        x = tape.op("Add", words, block.lookup("wpe", places, size.positions, POSITION_SPREAD))
        for layer in range(size.layers):
            with tape.inside(f"h.{layer}"):
                x = _layer(block, x, bias, decoder.layer(layer))
        x = block.layer_norm("ln_f", x)
        x = tape.reshape(x, -1, length, tape.size(x, 2))
    logits = block.head("lm_head", x, "transformer.wte.weight")
    return decoder.finish(logits)


def _layer(block: Block, x: str, bias: str, cache: caches.LayerCache | None) -> str:
    tape, size = block.tape, block.size
    normed = block.layer_norm("ln_1", x)
    with tape.inside("attn"):
        context = _attention(block, normed, bias, cache)
        weights = block.source.joining(block.name("c_proj.weight"), size.width, CONTEXT_POWER)
        offsets = block.source.joining_bias(block.name("c_proj.bias"))
        x = tape.op("Add", _conv1d(block, "c_proj", context, weights, offsets), x)
    normed = block.layer_norm("ln_2", x)
    with tape.inside("mlp"):
        weights = block.source.reading(block.name("c_fc.weight"), size.hidden)
        offsets = block.source.bias(block.name("c_fc.bias"), size.hidden)
        hidden = _conv1d(block, "c_fc", normed, weights, offsets)
        with tape.inside("act"):
            hidden = gelu_tanh(tape, hidden)
        weights = block.source.joining(block.name("c_proj.weight"), size.hidden)
        offsets = block.source.joining_bias(block.name("c_proj.bias"))
        joined = _conv1d(block, "c_proj", hidden, weights, offsets)
    return tape.op("Add", x, joined)


def _conv1d(block: Block, path: str, x: str, weights: Floats, bias: Floats) -> str:
    """A product with a matrix (inputs, outputs), on all tokens below each other."""
    tape = block.tape
    name = block.name(path)
    with tape.inside(path):
        sizes = tape.size(x, 0), tape.size(x, 1), weights.shape[1]
        rows = tape.reshape(x, -1, tape.size(x, 2))
        operands = tape.weight(f"{name}.weight", weights), tape.weight(f"{name}.bias", bias)
        return tape.reshape(tape.op("Gemm", rows, *operands, alpha=1.0, beta=1.0), *sizes)


def _attention(block: Block, x: str, bias: str, cache: caches.LayerCache | None) -> str:
    tape, size = block.tape, block.size
    names = (block.name(f"c_attn.{part}") for part in ("query", "key", "value"))
    packed = _conv1d(block, "c_attn", x, *_packed(block, *names))
    parts = tape.ops("Split", 3, packed, tape.constant([size.width] * 3), axis=2)
    heads = []
    for part, transposed in zip(parts, (True, cache is not None, True), strict=True):
        shape = tape.size(part, 0), tape.size(part, 1), size.heads, size.head_width
        heads.append(attention.split(tape, part, *shape, transpose=transposed))
    queries, keys, values = heads
    if cache:
        keys, values = cache.extended(keys, values)
        turned = tape.op("Transpose", keys, perm=[0, 1, 3, 2])
    else:
        operands = attention.Operands(queries, keys, values, size.head_width)
        turned = operands.transposed_keys(tape)
    scores = tape.op("MatMul", queries, turned)
    scores = tape.op("Div", scores, tape.number(size.head_width**0.5))
    # The keys' tokens are on their last axis now: the buffer is cut by the queries' and values'.
    seen = masks.causal_buffer(tape, size.positions, queries, values)
    scores = tape.op("Where", seen, scores, tape.number(masks.LEAST))
    probabilities = tape.op("Softmax", tape.op("Add", scores, bias), axis=-1)
    context = tape.op("MatMul", probabilities, values)
    rows = tape.op("Transpose", context, perm=[0, 2, 1, 3])
    return tape.reshape(rows, tape.size(rows, 0), tape.size(rows, 1), size.width)


def _packed(block: Block, query: str, key: str, value: str) -> tuple[Floats, Floats]:
    """The matrices of queries, keys and values side by side, and their biases."""
    source, width = block.source, block.size.width
    matrices = [source.scoring(name, width, 1) for name in (query, key)]
    matrices.append(source.reading(value, width))
    biases = [source.bias(f"{name}.bias") for name in (query, key, value)]
    return np.concatenate(matrices, axis=1), np.concatenate(biases)
