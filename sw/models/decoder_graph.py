"""The float graph of a decoder of a known form, made from its tensors, for a whole text."""

from collections.abc import Callable

import numpy as np

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.mlir.operation import Attribute
from celosia.sw.models.decoder_shape import DecoderShape
from celosia.sw.reference.encoder import Floats
from celosia.sw.reference.language.shape import rotary_frequencies
from celosia.sw.reference.language.weights import LlamaWeights

__all__ = ["decoder_float_graph", "llama_float_graph"]

Tensors = Callable[[str, tuple[int, ...]], Floats]
"""A tensor by its name, of this shape; matrices are inputs x outputs."""


def llama_float_graph(weights: LlamaWeights, length: int) -> FloatGraph:
    """The graph of `weights` behind `recognize`, for `length` tokens: `input_ids` to `logits`."""
    sizes = weights.shape
    shape = DecoderShape(
        form="llama",
        width=sizes.width,
        vocabulary=sizes.vocabulary,
        layers=sizes.layers,
    )
    decoder = _Decoder(shape, lambda name, _: weights[name], length, sizes.EPSILON)
    tokens = decoder.builder.input("input_ids", TensorType("int64", (1, length)))
    table = decoder.builder.constant(weights["embedding"], "embedding.table")
    x = decoder.builder.op("gather", table, tokens, name="embedding", axis=0)
    return decoder.finish(x, weights.vocabulary)


def decoder_float_graph(
    shape: DecoderShape, tensors: Tensors, length: int, epsilon: float, *, whole: bool = True
) -> FloatGraph:
    """The graph of a decoder for `length` tokens, from sums of embeddings, `embedding`, to logits.

    Without being `whole` it ends with the last layer's sum.  Tensors are ``0.attention_norm``,
    ``0.key``, ``0.value``, ``0.query``, ``0.output``, ``0.norm``, ``0.gate`` (Llama's form alone),
    ``0.up``, ``0.down``, with the number of the layer, ``norm`` and ``vocabulary``; norms but
    Llama's have a beta, ``norm.beta``.  Results are named after them.
    """
    decoder = _Decoder(shape, tensors, length, epsilon)
    kind = TensorType("float32", (1, length, shape.width))
    x = decoder.builder.input("embedding", kind)
    size = shape.width, shape.vocabulary
    return decoder.finish(x, tensors("vocabulary", size) if whole else None)


class _Decoder:
    """The graph in the making."""

    def __init__(self, shape: DecoderShape, tensors: Tensors, length: int, epsilon: float):
        self.shape, self.tensors, self.length = shape, tensors, length
        self.epsilon, self.llama = float(epsilon), shape.form == "llama"
        self.builder = GraphBuilder(f"decoder {shape}")
        self.angles: dict[int, str] = {}
        if self.llama:
            for layer in shape.layers:
                if layer.head_width not in self.angles:
                    self.angles[layer.head_width] = self.turns(layer.head_width)

    def turns(self, width: int) -> str:
        """The table of rotary angles of heads so wide: a row for each token, cosines first."""
        angles = np.arange(self.length)[:, np.newaxis] * rotary_frequencies(width)
        table = np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
        name = f"angles.{width}" if self.angles else "angles"
        return self.builder.constant(table.astype(np.float32), name)

    def finish(self, x: str, vocabulary: Floats | None) -> FloatGraph:
        """All layers, and with a matrix of the `vocabulary` the logits."""
        for index in range(len(self.shape.layers)):
            x = self.layer(index, x)
        if vocabulary is None:
            return self.builder.finish({"sum": x})
        x = self.norm(x, "norm", "output", "norm")
        with self.builder.origin("vocabulary"):
            matrix = self.builder.constant(vocabulary)
            return self.builder.finish({
                "logits": self.builder.op("matmul", x, matrix, name="logits")
            })

    def norm(self, x: str, gamma: str, name: str, origin: str) -> str:
        build, size = self.builder, (self.shape.width,)
        factors = [build.constant(self.tensors(gamma, size), f"{gamma}.gamma")]
        op, how = "rmsnorm", {"axis": -1, "epsilon": self.epsilon}
        if not self.llama:
            op = "layernorm"
            factors.append(build.constant(self.tensors(f"{gamma}.beta", size), f"{gamma}.beta"))
        with build.origin(origin):
            return build.op(op, x, *factors, name=name, **how)

    def linear(self, x: str, name: str, outputs: int) -> str:
        size = self.builder.type(x).shape[-1], outputs
        with self.builder.origin(name):
            matrix = self.builder.constant(self.tensors(name, size))
            return self.builder.op("matmul", x, matrix, name=name)

    def layer(self, index: int, x: str) -> str:
        small = self.norm(x, f"{index}.attention_norm", f"{index}.input", f"{index}.input_norm")
        context = self.attention(index, small)
        x = self.add(context, f"{index}.output", x, f"{index}.attention_sum")
        small = self.norm(x, f"{index}.norm", f"{index}.attention", f"{index}.attention_norm")
        return self.add(self.hidden(index, small), f"{index}.down", x, f"{index}.sum")

    def add(self, x: str, name: str, stream: str, total: str) -> str:
        """A product that is added to the stream."""
        product = self.linear(x, name, self.shape.width)
        with self.builder.origin(name):
            return self.builder.op("add", product, stream, name=total)

    def curve(self, x: str, name: str, cols: int, op: str, out: str, **how: Attribute) -> str:
        """A curve of a product of so many columns."""
        product = self.linear(x, name, cols)
        with self.builder.origin(name):
            return self.builder.op(op, product, name=out, **how)

    def hidden(self, index: int, x: str) -> str:
        """What the feed-forward network has between its products."""
        name, up, cols = f"{index}.hidden", f"{index}.up", self.shape.layers[index].hidden
        if self.shape.form == "opt":
            return self.curve(x, up, cols, "relu", name)
        if self.shape.form == "gpt2":
            return self.curve(x, up, cols, "gelu", name, form="erf")
        gate = self.curve(x, f"{index}.gate", cols, "silu", f"{index}.gated", alpha=1.0)
        product = self.linear(x, up, cols)
        with self.builder.origin(f"{index}.multiply"):
            return self.builder.op("mul", gate, product, name=name)

    def attention(self, index: int, x: str) -> str:
        """Keys and values first: they have to be in memory before they are read."""
        sizes, build = self.shape.layers[index], self.builder
        key = self.heads(index, x, "key", sizes.key_heads, turned=self.llama)
        value = self.heads(index, x, "value", sizes.key_heads)
        query = self.heads(index, x, "query", sizes.heads, turned=self.llama)
        with build.origin(f"{index}"):
            found = build.op(
                "attention",
                query,
                key,
                value,
                name=f"{index}.context",
                scale=float(1 / np.sqrt(sizes.head_width)),
                causal=True,
                first_query=0,
            )
            found = build.op("transpose", found, permutation=(0, 2, 1, 3))
            return build.op("reshape", found, shape=(1, self.length, sizes.query_width))

    def heads(self, index: int, x: str, part: str, heads: int, *, turned: bool = False) -> str:
        """A product as heads: (1, heads, tokens, columns of a head)."""
        width, build = self.shape.layers[index].head_width, self.builder
        found = self.linear(x, f"{index}.{part}", heads * width)
        found = build.op("reshape", found, shape=(1, self.length, heads, width))
        found = build.op("transpose", found, permutation=(0, 2, 1, 3))
        if not turned:
            return found
        with build.origin(f"{index}.rotate_{part}"):
            return build.op("rotate", found, self.angles[width], name=f"{index}.{part}.turned")
