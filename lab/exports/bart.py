"""The decoder of BART: causal attention to its own tokens, then attention to an encoder's."""

from typing import Any

from onnx import TensorProto

from celosia.lab.exports.writing import attention, masks
from celosia.lab.exports.writing.block import Block
from celosia.lab.exports.writing.modules import gelu
from celosia.lab.exports.writing.size import Size
from celosia.lab.exports.writing.tape import Tape
from celosia.lab.exports.writing.weights import CONTEXT_POWER

__all__ = ["bart_decoder"]

TOKENS = ("batch", "sequence")
SOURCE = ("batch", "encoder_sequence")
OFFSET = 2
"""Rows of the table of positions that no token has."""


def bart_decoder(size: Size, seed: int, *, opset: int = 17) -> Any:
    """The model: token numbers and the encoder's hidden state and mask in, a hidden state out."""
    tape = Tape("bart decoder", opset)
    block = Block(tape, size, seed)
    tokens = tape.input("input_ids", TensorProto.INT64, TOKENS)
    states = tape.input("encoder_hidden_states", TensorProto.FLOAT, (*SOURCE, size.width))
    shown = tape.input("encoder_attention_mask", TensorProto.INT64, SOURCE)
    with tape.inside("decoder"):
        length = tape.size(tokens, 1)
        words = block.lookup("embed_tokens", tokens, size.vocabulary)
        with tape.inside("embed_tokens"):
            words = tape.op("Mul", words, tape.number(1))
        # Without a mask of its own, the decoder makes one of ones.
        ones = tape.expand(tape.constant([[1]]), tape.size(words, 0), tape.size(words, 1))
        own = masks.causal_by_scatter(tape, ones, words)
        other = masks.padding_expanded(tape, shown, length)
        x = tape.op("Add", words, tape.cast(_positions(block, words), TensorProto.FLOAT))
        x = block.layer_norm("layernorm_embedding", x)
        for layer in range(size.layers):
            with tape.inside(f"layers.{layer}"):
                x = _layer(block, x, states, own, other)
    tape.output(x, "last_hidden_state", (*TOKENS, size.width))
    return tape.model()


def _positions(block: Block, words: str) -> str:
    tape = block.tape
    length = tape.cast(tape.size(words, 1), TensorProto.INT64)
    numbers = tape.op("Range", tape.constant(0), length, tape.constant(1))
    with tape.inside("embed_positions"):
        numbers = tape.op("Add", tape.unsqueeze(numbers, 0), tape.constant(OFFSET))
    return block.lookup("embed_positions", numbers, block.size.positions + OFFSET, 0.3)


def _layer(block: Block, x: str, states: str, own: str, other: str) -> str:
    tape, size = block.tape, block.size
    for path, source, mask in (("self_attn", x, own), ("encoder_attn", states, other)):
        with tape.inside(path):
            context = _attention(block, x, source, mask)
            joined = block.join("out_proj", context, size.width, CONTEXT_POWER)
        x = block.layer_norm(f"{path}_layer_norm", tape.op("Add", x, joined))
    hidden = block.read("fc1", x, size.hidden)
    with tape.inside("activation_fn"):
        hidden = gelu(tape, hidden)
    joined = block.join("fc2", hidden, size.hidden)
    return block.layer_norm("final_layer_norm", tape.op("Add", x, joined))


def _attention(block: Block, x: str, source: str, mask: str) -> str:
    tape, size = block.tape, block.size
    batch, length = tape.size(x, 0), tape.size(x, 1)
    read = length if source == x else tape.size(source, 1)
    queries = block.score("q_proj", x, size.width)
    queries = attention.split(tape, queries, batch, length, -1, size.head_width)
    keys = block.score("k_proj", source, size.width)
    keys = attention.split(tape, keys, batch, read, -1, size.head_width, transpose=False)
    values = block.read("v_proj", source, size.width)
    values = attention.split(tape, values, batch, read, -1, size.head_width)
    if source == x:
        mask = tape.slice(mask, 0, tape.size(values, 2), 3)
    operands = attention.Operands(queries, keys, values, size.head_width)
    context = attention.sdpa(tape, operands, mask, scale=size.head_width**-0.5)
    return attention.merge(tape, context, batch, length, size.width)
