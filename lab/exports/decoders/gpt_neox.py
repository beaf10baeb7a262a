"""GPT-NeoX: one product for each head's queries, keys and values; a quarter of them rotated."""

from typing import Any

from celosia.lab.exports.writing import attention, caches, masks
from celosia.lab.exports.writing.block import Block
from celosia.lab.exports.writing.decoder import begin
from celosia.lab.exports.writing.modules import gelu
from celosia.lab.exports.writing.rotary import Waves, partly_rotated, waves
from celosia.lab.exports.writing.size import Size
from celosia.lab.exports.writing.tape import Tape
from celosia.lab.exports.writing.weights import CONTEXT_POWER

__all__ = ["gpt_neox"]


def gpt_neox(size: Size, seed: int, *, opset: int = 14, cached: bool = False) -> Any:
    """The model with its head: token numbers and mask in, logits out.

    `cached`: and keys and values of tokens before in, those of all out.
    """
    tape = Tape("gpt_neox", opset)
    block = Block(tape, size, seed)
    decoder = begin(block, size.heads, cached=cached)
    tokens, mask = decoder.tokens, decoder.mask
    with tape.inside("gpt_neox"):
        x = block.lookup("embed_in", tokens, size.vocabulary)
        bias = masks.causal_by_scatter(tape, mask, tokens, decoder.before())
        places = caches.places(tape, decoder.cache, tape.size(x, 1))
        angles = waves(tape, places, size.head_width // 4)
        for layer in range(size.layers):
            with tape.inside(f"layers.{layer}"):
                x = _layer(block, x, bias, angles, decoder.layer(layer))
        x = block.layer_norm("final_layer_norm", x)
    logits = block.read("embed_out", x, size.vocabulary, bias=False)
    return decoder.finish(logits)


def _layer(block: Block, x: str, bias: str, angles: Waves, cache: caches.LayerCache | None) -> str:
    """Two norms of the same rows: attention and feed-forward network are beside each other."""
    tape, size = block.tape, block.size
    normed = block.layer_norm("input_layernorm", x)
    with tape.inside("attention"):
        context = _attention(block, normed, bias, angles, cache)
        attended = block.join("dense", context, size.width, CONTEXT_POWER)
    normed = block.layer_norm("post_attention_layernorm", x)
    with tape.inside("mlp"):
        hidden = block.read("dense_h_to_4h", normed, size.hidden)
        with tape.inside("act"):
            hidden = gelu(tape, hidden)
        joined = block.join("dense_4h_to_h", hidden, size.hidden)
    return tape.op("Add", tape.op("Add", joined, attended), x)


def _attention(
    block: Block, x: str, bias: str, angles: Waves, cache: caches.LayerCache | None
) -> str:
    tape, size = block.tape, block.size
    batch, length, width = tape.size(x, 0), tape.size(x, 1), size.head_width
    packed = block.read_heads("query_key_value", x)
    packed = attention.split(tape, packed, batch, length, -1, 3 * width)
    queries, keys, values = tape.ops("Split", 3, packed, tape.constant([width] * 3), axis=3)
    queries, keys = (partly_rotated(tape, part, angles, width // 4) for part in (queries, keys))
    if cache:
        keys, values = cache.extended(keys, values)
    scores = tape.op("MatMul", queries, tape.op("Transpose", keys, perm=[0, 1, 3, 2]))
    context = attention.weighed(tape, scores, values, bias, factor=width**-0.5, casts=1)
    return attention.merge(tape, context, batch, length, -1)
