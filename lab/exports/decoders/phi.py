"""Phi: attention and feed-forward network beside each other, half of each head rotated."""

from functools import partial
from typing import Any

from celosia.lab.exports.writing import attention, caches, masks
from celosia.lab.exports.writing.block import Block
from celosia.lab.exports.writing.decoder import begin
from celosia.lab.exports.writing.modules import gelu_tanh
from celosia.lab.exports.writing.rotary import Waves, partly_rotated, waves
from celosia.lab.exports.writing.size import Size
from celosia.lab.exports.writing.tape import Tape
from celosia.lab.exports.writing.weights import CONTEXT_POWER

__all__ = ["gpt_j", "phi"]


def phi(
    size: Size, seed: int, *, opset: int = 14, cached: bool = False, beside: bool = False
) -> Any:
    """The model with its head: token numbers and mask in, logits out.

    `cached`: and keys and values of tokens before in, those of all out.  `beside`: columns turn
    with their neighbours.
    """
    tape = Tape("phi", opset)
    block = Block(tape, size, seed)
    decoder = begin(block, size.heads, cached=cached)
    tokens, mask = decoder.tokens, decoder.mask
    with tape.inside("model"):
        x = block.lookup("embed_tokens", tokens, size.vocabulary)
        bias = masks.causal_by_scatter(tape, mask, tokens, decoder.before())
        places = caches.places(tape, decoder.cache, tape.size(x, 1))
        angles = waves(tape, places, size.head_width // 2, beside=beside)
        for layer in range(size.layers):
            with tape.inside(f"layers.{layer}"):
                x = _layer(block, x, bias, (angles, beside), decoder.layer(layer))
        x = block.layer_norm("final_layernorm", x)
    logits = block.read("lm_head", x, size.vocabulary)
    return decoder.finish(logits)


gpt_j = partial(phi, beside=True)
"""GPT-J, which is a Phi in all that counts here, but for the columns that turn together."""


def _layer(
    block: Block, x: str, bias: str, angles: tuple[Waves, bool], cache: caches.LayerCache | None
) -> str:
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
    block: Block, x: str, bias: str, angles: tuple[Waves, bool], cache: caches.LayerCache | None
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
    turning, (found, beside) = size.head_width // 2, angles
    queries, keys = (
        partly_rotated(tape, part, found, turning, beside=beside) for part in (queries, keys)
    )
    if cache:
        keys, values = cache.extended(keys, values)
    scores = tape.op("MatMul", queries, tape.op("Transpose", keys, perm=[0, 1, 3, 2]))
    context = attention.weighed(tape, scores, values, bias, factor=size.head_width**-0.5, casts=1)
    return attention.merge(tape, context, batch, length, -1)
