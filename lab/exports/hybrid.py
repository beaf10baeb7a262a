"""A convolutional network in front of a small transformer, as mobile vision models have it."""

from typing import Any

from onnx import TensorProto

from celosia.lab.exports.vit import CHANNELS
from celosia.lab.exports.writing import attention
from celosia.lab.exports.writing.block import Block
from celosia.lab.exports.writing.modules import gelu, silu
from celosia.lab.exports.writing.size import Size
from celosia.lab.exports.writing.tape import Tape
from celosia.lab.exports.writing.weights import CONTEXT_POWER

__all__ = ["CLASSES", "hybrid"]

CLASSES = 10
STEM = 32
"""Channels of the first convolution."""


def hybrid(size: Size, seed: int, *, opset: int = 17) -> Any:
    """The model: an image in, logits of classes out."""
    tape = Tape("hybrid", opset)
    block = Block(tape, size, seed)
    shape = ("batch", CHANNELS, size.image, size.image)
    image = tape.input("pixel_values", TensorProto.FLOAT, shape)
    with tape.inside("stem"):
        image = _convolution(block, "0", image, CHANNELS, STEM, stride=2)
        image = _convolution(block, "1", image, STEM, STEM, groups=STEM)
        image = _convolution(block, "2", image, STEM, 2 * STEM, kernel=1)
        image = _convolution(block, "3", image, 2 * STEM, size.width, stride=2)
    x = _rows(block, image)
    for layer in range(size.layers):
        with tape.inside(f"blocks.{layer}"):
            x = _layer(block, x)
    x = block.layer_norm("norm", x)
    pooled = tape.op("ReduceMean", x, axes=[1], keepdims=0)
    logits = block.read_rows("head", pooled, CLASSES)
    tape.output(logits, "logits", ("batch", CLASSES))
    return tape.model()


def _convolution(
    block: Block,
    path: str,
    x: str,
    inputs: int,
    outputs: int,
    *,
    kernel: int = 3,
    stride: int = 1,
    groups: int = 1,
) -> str:
    """A convolution, into which its batch norm has been folded, and SiLU."""
    tape, source = block.tape, block.source
    fan = inputs // groups * kernel**2
    name, bias = block.name(f"{path}.conv.weight"), block.name(f"{path}.conv.bias")
    weights = source.normal(name, (outputs, inputs // groups, kernel, kernel), (0.5 * fan) ** -0.5)
    with tape.inside(path):
        with tape.inside("conv"):
            x = tape.op(
                "Conv",
                x,
                tape.weight(name, weights),
                tape.weight(bias, source.bias(bias, outputs)),
                dilations=[1, 1],
                group=groups,
                kernel_shape=[kernel, kernel],
                pads=[kernel // 2] * 4,
                strides=[stride, stride],
            )
        with tape.inside("act"):
            return silu(tape, x)


def _rows(block: Block, image: str) -> str:
    """Pixels as tokens, with their positions."""
    tape, size = block.tape, block.size
    sizes = tape.size(image, 0), size.width, -1
    x = tape.op("Transpose", tape.reshape(image, *sizes), perm=[0, 2, 1])
    places = block.source.embedding("positions", (size.image // 4) ** 2, 0.3)
    return tape.op("Add", x, tape.weight("positions", places))


def _layer(block: Block, x: str) -> str:
    tape, size = block.tape, block.size
    normed = block.layer_norm("norm1", x)
    with tape.inside("attn"):
        context = _attention(block, normed)
        x = tape.op("Add", x, block.join("proj", context, size.width, CONTEXT_POWER))
    normed = block.layer_norm("norm2", x)
    with tape.inside("mlp"):
        hidden = gelu(tape, block.read("fc1", normed, size.hidden))
        return tape.op("Add", x, block.join("fc2", hidden, size.hidden))


def _attention(block: Block, x: str) -> str:
    """Queries, keys and values from one product, taken apart behind a transposition (timm)."""
    tape, size = block.tape, block.size
    sizes = [tape.size(x, axis) for axis in range(2)]
    packed = block.score("qkv", x, 3 * size.width)
    packed = tape.reshape(packed, *sizes, 3, size.heads, size.head_width)
    packed = tape.op("Transpose", packed, perm=[2, 0, 3, 1, 4])
    queries, keys, values = (
        tape.op("Gather", packed, tape.constant(index), axis=0) for index in range(3)
    )
    queries = tape.op("Mul", queries, tape.number(size.head_width**-0.5))
    scores = tape.op("MatMul", queries, tape.op("Transpose", keys, perm=[0, 1, 3, 2]))
    context = tape.op("MatMul", tape.op("Softmax", scores, axis=-1), values)
    return attention.merge(tape, context, *sizes, size.width)
