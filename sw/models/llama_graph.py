"""The float graph of a decoder of Llama's form, made from its weights, for a whole text."""

import numpy as np

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.reference.encoder import Floats
from celosia.sw.reference.language.weights import LlamaWeights

__all__ = ["llama_float_graph"]


def llama_float_graph(weights: LlamaWeights, length: int) -> FloatGraph:
    """The graph of `weights` behind `recognize`, for `length` tokens: `input_ids` to `logits`.

    Tensors are named after those of a layer: ``0.input``, ``0.query``, ``0.context``.
    """
    shape, decoder = weights.shape, _Decoder(weights, length)
    build = decoder.builder
    tokens = build.input("input_ids", TensorType("int64", (1, length)))
    table = build.constant(weights["embedding"], "embedding.table")
    x = build.op("gather", table, tokens, name="embedding", axis=0)
    for index in range(shape.layers):
        x = decoder.layer(index, x)
    x = decoder.norm(x, "norm", "output")
    return build.finish({"logits": decoder.product(x, weights.vocabulary, "logits")})


class _Decoder:
    """The graph in the making."""

    def __init__(self, weights: LlamaWeights, length: int):
        self.weights, self.shape, self.length = weights, weights.shape, length
        self.builder = GraphBuilder(f"decoder of {length} tokens")
        angles = np.arange(length)[:, np.newaxis] * self.shape.frequencies
        table = np.concatenate([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
        self.angles = self.builder.constant(table, "angles")

    def norm(self, x: str, gamma: str, name: str) -> str:
        factors = self.builder.constant(self.weights[gamma], f"{gamma}.gamma")
        epsilon = float(self.shape.EPSILON)
        with self.builder.origin(name):
            return self.builder.op("rmsnorm", x, factors, name=name, axis=-1, epsilon=epsilon)

    def product(self, x: str, matrix: Floats, name: str) -> str:
        with self.builder.origin(name):
            return self.builder.op("matmul", x, self.builder.constant(matrix), name=name)

    def linear(self, x: str, name: str) -> str:
        return self.product(x, self.weights[name], name)

    def layer(self, index: int, x: str) -> str:
        small = self.norm(x, f"{index}.attention_norm", f"{index}.input")
        context = self.attention(index, small)
        x = self.builder.op(
            "add", self.linear(context, f"{index}.output"), x, name=f"{index}.attention_sum"
        )
        small = self.norm(x, f"{index}.norm", f"{index}.attention")
        gate = self.builder.op("silu", self.linear(small, f"{index}.gate"), alpha=1.0)
        up = self.linear(small, f"{index}.up")
        hidden = self.builder.op("mul", gate, up, name=f"{index}.hidden")
        down = self.linear(hidden, f"{index}.down")
        return self.builder.op("add", down, x, name=f"{index}.sum")

    def attention(self, index: int, x: str) -> str:
        shape, build = self.shape, self.builder
        query = self.heads(self.linear(x, f"{index}.query"), shape.heads)
        key = self.heads(self.linear(x, f"{index}.key"), shape.key_heads)
        value = self.heads(self.linear(x, f"{index}.value"), shape.key_heads)
        query, key = (build.op("rotate", each, self.angles) for each in (query, key))
        scale = float(1 / np.sqrt(shape.head_width))
        with build.origin(f"{index}.attention"):
            found = build.op(
                "attention", query, key, value, scale=scale, causal=True, first_query=0
            )
        found = build.op("transpose", found, permutation=(0, 2, 1, 3))
        size = (1, self.length, shape.width)
        return build.op("reshape", found, name=f"{index}.context", shape=size)

    def heads(self, x: str, heads: int) -> str:
        size = (1, self.length, heads, self.shape.head_width)
        found = self.builder.op("reshape", x, shape=size)
        return self.builder.op("transpose", found, permutation=(0, 2, 1, 3))
