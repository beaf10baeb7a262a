"""The encoder of Whisper: two 1-D convolutions over a spectrogram, then a pre-norm encoder."""

from typing import Any

from onnx import TensorProto

from celosia.lab.exports.writing import attention
from celosia.lab.exports.writing.block import Block
from celosia.lab.exports.writing.modules import gelu
from celosia.lab.exports.writing.size import Size
from celosia.lab.exports.writing.tape import Tape
from celosia.lab.exports.writing.weights import CONTEXT_POWER

__all__ = ["KERNEL", "frames", "whisper_encoder"]

KERNEL = 3


def frames(size: Size) -> int:
    """Columns of the spectrogram, two for each position."""
    return size.positions


def whisper_encoder(size: Size, seed: int, *, opset: int = 17) -> Any:
    """The model: a spectrogram in, the last hidden state out, half as long."""
    tape = Tape("whisper encoder", opset)
    block = Block(tape, size, seed)
    shape = ("batch", size.mels, frames(size))
    x = tape.input("input_features", TensorProto.FLOAT, shape)
    x = gelu(tape, _convolution(block, "conv1", x, size.mels, stride=1))
    x = gelu(tape, _convolution(block, "conv2", x, size.width, stride=2))
    x = tape.op("Transpose", x, perm=[0, 2, 1])
    places = block.source.embedding("embed_positions.weight", frames(size) // 2, 0.3)
    x = tape.op("Add", x, tape.weight("embed_positions.weight", places))
    for layer in range(size.layers):
        with tape.inside(f"layers.{layer}"):
            x = _layer(block, x)
    x = block.layer_norm("layer_norm", x)
    tape.output(x, "last_hidden_state", ("batch", frames(size) // 2, size.width))
    return tape.model()


def _convolution(block: Block, path: str, x: str, channels: int, stride: int) -> str:
    tape, source, inputs = block.tape, block.source, channels * KERNEL
    name, bias = block.name(f"{path}.weight"), block.name(f"{path}.bias")
    if stride == 1:
        kernel = source.normal(name, (inputs, block.size.width), inputs**-0.5)
        offsets = source.bias(bias)
    else:  # The second one writes to the residual stream.
        kernel = source.embedding(name, inputs, (0.4 * inputs) ** -0.5)
        offsets = source.joining_bias(bias)
    kernel = kernel.T.reshape(block.size.width, channels, KERNEL)
    with tape.inside(path):
        return tape.op(
            "Conv",
            x,
            tape.weight(name, kernel),
            tape.weight(bias, offsets),
            dilations=[1],
            group=1,
            kernel_shape=[KERNEL],
            pads=[1, 1],
            strides=[stride],
        )


def _layer(block: Block, x: str) -> str:
    tape, size = block.tape, block.size
    normed = block.layer_norm("self_attn_layer_norm", x)
    with tape.inside("self_attn"):
        context = _attention(block, normed)
        x = tape.op("Add", x, block.join("out_proj", context, size.width, CONTEXT_POWER))
    hidden = block.read("fc1", block.layer_norm("final_layer_norm", x), size.hidden)
    with tape.inside("activation_fn"):
        hidden = gelu(tape, hidden)
    return tape.op("Add", x, block.join("fc2", hidden, size.hidden))


def _attention(block: Block, x: str) -> str:
    tape, size = block.tape, block.size
    batch, length = tape.size(x, 0), tape.size(x, 1)
    queries = attention.scaled(tape, block.score("q_proj", x, size.width), size.head_width)
    queries = attention.split(tape, queries, batch, length, -1, size.head_width)
    shape = (batch, -1, size.heads, size.head_width)
    # Keys have no bias in Whisper: the softmax would take no notice of it.
    keys = block.score("k_proj", x, size.width, bias=False)
    keys = attention.split(tape, keys, *shape, transpose=False)
    values = attention.split(tape, block.read("v_proj", x, size.width), *shape)
    operands = attention.Operands(queries, keys, values, size.head_width)
    context = attention.sdpa(tape, operands, None, scale=1)
    return attention.merge(tape, context, batch, length, -1)
