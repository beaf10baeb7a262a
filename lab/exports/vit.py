"""ViT: patches by a convolution whose stride is its size, then an encoder with norms in front."""

from typing import Any

import numpy as np
from onnx import TensorProto

from celosia.lab.exports.writing import attention
from celosia.lab.exports.writing.block import Block
from celosia.lab.exports.writing.modules import gelu
from celosia.lab.exports.writing.size import Size
from celosia.lab.exports.writing.tape import Tape
from celosia.lab.exports.writing.weights import CONTEXT_POWER

__all__ = ["CHANNELS", "patches", "vit"]

CHANNELS = 3
EPSILON = 1e-12


def patches(size: Size) -> int:
    """Patches of an image."""
    return (size.image // size.patch) ** 2


def vit(size: Size, seed: int, *, opset: int = 17) -> Any:
    """The model: an image in, the last hidden state of its patches and of the class token out."""
    tape = Tape("vit", opset)
    block = Block(tape, size, seed)
    pixels = tape.input(
        "pixel_values", TensorProto.FLOAT, ("batch", CHANNELS, size.image, size.image)
    )
    x = _embeddings(block, pixels)
    for layer in range(size.layers):
        with tape.inside(f"encoder/layer.{layer}"):
            x = _layer(block, x)
    x = block.layer_norm("layernorm", x, EPSILON)
    tape.output(x, "last_hidden_state", ("batch", patches(size) + 1, size.width))
    return tape.model()


def _embeddings(block: Block, pixels: str) -> str:
    tape, size, source = block.tape, block.size, block.source
    with tape.inside("embeddings"):
        batch = tape.size(pixels, 0)
        rows = _patches(block, pixels)
        token = source.embedding("embeddings.cls_token", 1)[np.newaxis]
        token = tape.expand(tape.weight("embeddings.cls_token", token), batch, -1, -1)
        whole = tape.op("Concat", token, rows, axis=1)
        name = "embeddings.position_embeddings"
        positions = source.embedding(name, patches(size) + 1, 0.3)[np.newaxis]
        return tape.op("Add", whole, tape.weight(name, positions))


def _patches(block: Block, pixels: str) -> str:
    tape, size, source = block.tape, block.size, block.source
    side, inputs = size.patch, CHANNELS * size.patch**2
    with tape.inside("patch_embeddings"):
        name = block.name("projection.weight")
        kernel = source.embedding(name, inputs, inputs**-0.5).T.reshape(-1, CHANNELS, side, side)
        bias = block.name("projection.bias")
        with tape.inside("projection"):
            image = tape.op(
                "Conv",
                pixels,
                tape.weight(name, kernel),
                tape.weight(bias, source.joining_bias(bias)),
                dilations=[1, 1],
                group=1,
                kernel_shape=[side, side],
                pads=[0, 0, 0, 0],
                strides=[side, side],
            )
        bounds = (tape.constant([value]) for value in (0, 2, 0))
        kept = tape.op("Slice", tape.op("Shape", image), *bounds)
        flat = tape.op("Reshape", image, tape.op("Concat", kept, tape.constant([-1]), axis=0))
        return tape.op("Transpose", flat, perm=[0, 2, 1])


def _layer(block: Block, x: str) -> str:
    tape, size = block.tape, block.size
    normed = block.layer_norm("layernorm_before", x, EPSILON)
    with tape.inside("attention"):
        context = _attention(block, normed)
        x = tape.op("Add", block.join("output/dense", context, size.width, CONTEXT_POWER), x)
    hidden = block.read(
        "intermediate/dense", block.layer_norm("layernorm_after", x, EPSILON), size.hidden
    )
    with tape.inside("intermediate/intermediate_act_fn"):
        hidden = gelu(tape, hidden)
    with tape.inside("output"):
        return tape.op("Add", block.join("dense", hidden, size.hidden), x)


def _attention(block: Block, x: str) -> str:
    tape, size = block.tape, block.size
    with tape.inside("attention"):
        shape = (tape.size(x, 0), -1, size.heads, size.head_width)
        keys = attention.split(tape, block.score("key", x, size.width), *shape, transpose=False)
        values = attention.split(tape, block.read("value", x, size.width), *shape)
        queries = attention.split(tape, block.score("query", x, size.width), *shape)
        operands = attention.Operands(queries, keys, values, size.head_width)
        context = attention.sdpa(tape, operands, None, scale=size.head_width**-0.5)
        rows = tape.op("Transpose", context, perm=[0, 2, 1, 3])
        return tape.reshape(rows, tape.size(rows, 0), tape.size(rows, 1), size.width)
