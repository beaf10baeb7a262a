"""The float graph of an encoder, made from its weights."""

from typing import Final

import numpy as np

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.reference.encoder import (
    EPSILON,
    EncoderShape,
    EncoderWeights,
    Floats,
    LayerWeights,
    Linear,
    Norm,
)

__all__ = ["by_heads", "encoder_float_graph"]

_TOKENS: Final = 2
"""The rows of the graph's only text: formats depend on columns alone."""


def encoder_float_graph(weights: EncoderWeights) -> FloatGraph:
    """The graph of `weights` on one text, behind `recognize`: input `embedding`, output `output`.

    Tensors are named as `celosia.sw.reference.encoder.encode` names what it observes; origins are
    what the integer model calls the arrays of a product or norm.  Contexts stand head by head.
    """
    encoder = _Encoder(weights.shape)
    kind = TensorType("float32", (_TOKENS, weights.shape.width))
    source = encoder.builder.input("embedding", kind)
    x = encoder.norm(source, "norm", weights.norm, "0.input")
    for index, layer in enumerate(weights.layers):
        total = encoder.layer(index, layer, x)
        last = index == weights.shape.layers - 1
        after = "output" if last else f"{index + 1}.input"
        x = encoder.norm(total, f"layers.{index}.norm", layer.norm, after)
    return encoder.builder.finish({"output": x})


def by_heads(rows: Floats, heads: int) -> Floats:
    """Rows of one text as an array (1, heads, rows, columns of a head)."""
    return rows.reshape(1, len(rows), heads, -1).transpose(0, 2, 1, 3)


class _Encoder:
    """The graph in the making."""

    def __init__(self, shape: EncoderShape):
        self.shape = shape
        self.builder = GraphBuilder(f"encoder of {shape}")

    def norm(self, x: str, origin: str, norm: Norm, name: str) -> str:
        gamma, beta = map(self.builder.constant, (norm.gamma, norm.beta))
        with self.builder.origin(origin):
            return self.builder.op(
                "layernorm", x, gamma, beta, name=name, axis=-1, epsilon=float(EPSILON)
            )

    def linear(self, x: str, linear: Linear, name: str) -> str:
        weights, bias = map(self.builder.constant, (linear.weights, linear.bias))
        product = self.builder.op("matmul", x, weights, name=f"{name}.product")
        return self.builder.op("add", product, bias, name=name)

    def layer(self, index: int, layer: LayerWeights, x: str) -> str:
        """A layer but for the norm at its end."""
        arrays, build = f"layers.{index}", self.builder
        heads = []
        for name in ("query", "key", "value"):
            with build.origin(f"{arrays}.{name}"):
                rows = self.linear(x, getattr(layer, name), f"{index}.{name}")
            heads.append(self._heads(rows))
        scale = float(1 / np.sqrt(self.shape.head_width))
        with build.origin(arrays):
            context = build.op(
                "attention",
                *heads,
                name=f"{index}.context",
                scale=scale,
                causal=False,
                first_query=0,
            )
        rows = build.op("transpose", context, permutation=(0, 2, 1, 3))
        rows = build.op("reshape", rows, shape=(_TOKENS, self.shape.width))
        with build.origin(f"{arrays}.output"):
            product = self.linear(rows, layer.output, f"{index}.output")
            total = build.op("add", product, x, name=f"{index}.attention_sum")
        name = f"{index}.attention"
        x = self.norm(total, f"{arrays}.attention_norm", layer.attention_norm, name)
        with build.origin(f"{arrays}.up"):
            up = self.linear(x, layer.up, f"{index}.up")
            hidden = build.op("gelu", up, name=f"{index}.hidden", form="erf")
        with build.origin(f"{arrays}.down"):
            down = self.linear(hidden, layer.down, f"{index}.down")
            return build.op("add", down, x, name=f"{index}.sum")

    def _heads(self, rows: str) -> str:
        shape = (1, _TOKENS, self.shape.heads, self.shape.head_width)
        split = self.builder.op("reshape", rows, shape=shape)
        return self.builder.op("transpose", split, permutation=(0, 2, 1, 3))
