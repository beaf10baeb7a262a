"""Phi: attention and feed-forward network beside each other, half of each head rotated."""

from typing import Any

from onnx import TensorProto

from celosia.lab.exports.writing import attention, caches, masks
from celosia.lab.exports.writing.block import Block
from celosia.lab.exports.writing.modules import gelu_tanh
from celosia.lab.exports.writing.rotary import Waves, partly_rotated, waves
from celosia.lab.exports.writing.size import Size
from celosia.lab.exports.writing.tape import Tape
from celosia.lab.exports.writing.weights import CONTEXT_POWER

__all__ = ["phi"]

TOKENS = ("batch", "sequence")


def phi(size: Size, seed: int, *, opset: int = 14, cached: bool = False) -> Any:
    """The model with its head: token numbers and mask in, logits out.

    `cached`: and keys and values of tokens before in, those of all out.
    """
    tape = Tape("phi", opset)
    block = Block(tape, size, seed)
    tokens = tape.input("input_ids", TensorProto.INT64, TOKENS)
    cache = caches.Cache(tape, size, size.heads) if cached else None
    mask = tape.input("attention_mask", TensorProto.INT64, caches.mask_sizes(cache))
    with tape.inside("model"):
        x = block.lookup("embed_tokens", tokens, size.vocabulary)
        bias = masks.causal_by_scatter(tape, mask, tokens, cache and cache.length(0))
        places = caches.places(tape, cache, tape.size(x, 1))
        angles = waves(tape, places, size.head_width // 2)
        for layer in range(size.layers):
            with tape.inside(f"layers.{layer}"):
                x = _layer(block, x, bias, angles, cache and cache.layer(layer))
        x = block.layer_norm("final_layernorm", x)
    logits = block.read("lm_head", x, size.vocabulary)
    tape.output(logits, "logits", (*TOKENS, size.vocabulary))
    if cache:
        cache.write_outputs()
    return tape.model()


def _layer(block: Block, x: str, bias: str, angles: Waves, cache: caches.LayerCache | None) -> str:
    tape, size = block.tape, block.size
    normed = block.layer_norm("input_layernorm", x)
    with tape.inside("self_attn"):
        context = _attention(block, normed, bias, angles, cache)
        attended = block.join("dense", context, size.width, CONTEXT_POWER)
    with tape.inside("mlp"):
        hidden = block.read("fc1", normed, size.hidden)
        with tape.inside("activation_fn"):
            hidden = gelu_tanh(tape, hidden)
        joined = block.join("fc2", hidden, size.hidden)
    return tape.op("Add", tape.op("Add", attended, joined), x)


def _attention(
    block: Block, x: str, bias: str, angles: Waves, cache: caches.LayerCache | None
) -> str:
    tape, size = block.tape, block.size
    batch, length = tape.size(x, 0), tape.size(x, 1)
    shape = (batch, length, size.heads, size.head_width)
    queries, keys, values = (
        attention.split(tape, part, *shape)
        for part in (
            block.score("q_proj", x, size.width),
            block.score("k_proj", x, size.width),
            block.read("v_proj", x, size.width),
        )
    )
    turning = size.head_width // 2
    queries, keys = (partly_rotated(tape, part, angles, turning) for part in (queries, keys))
    if cache:
        keys, values = cache.extended(keys, values)
    scores = tape.op("MatMul", queries, tape.op("Transpose", keys, perm=[0, 1, 3, 2]))
    scores = tape.op("Mul", scores, tape.number(size.head_width**-0.5))
    probabilities = tape.op("Softmax", tape.op("Add", scores, bias), axis=-1)
    probabilities = tape.cast(probabilities, TensorProto.FLOAT)
    context = tape.op("MatMul", probabilities, values)
    return attention.merge(tape, context, batch, length, -1)
