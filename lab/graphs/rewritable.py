"""Graphs that substitutions are measured on: float graphs as models have them, with random weights.

Classifiers that read one token, an adapter beside each matrix, and short texts whose products share
an input, the rows or the weights.  The classifier and the adapter were named before anything was
predicted; a first short text gained 1 % by prediction, and stays as `heads_apart`; `twins` and
`packed_classifier` were added after that was seen.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.operators.operator import TensorType

__all__ = [
    "REWRITABLE",
    "SMALL",
    "Sizes",
    "adapter",
    "classifier",
    "heads_apart",
    "packed_classifier",
    "twins",
]

EPSILON: Final = 1e-5


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """The sizes of an encoder."""

    layers: int = 1
    width: int = 384
    heads: int = 12
    hidden: int = 1536
    tokens: int = 64
    rank: int = 32
    """Columns of an adapter's first matrix."""
    classes: int = 16


def classifier(sizes: Sizes | None = None, seed: int = 0) -> FloatGraph:
    """An encoder of two layers, and classes of its first token: nobody reads the others' last."""
    sizes = sizes or Sizes(layers=2, width=256, heads=4, hidden=1024)
    return _classified(_Block("classifier", sizes, seed))


def packed_classifier(sizes: Sizes | None = None, seed: int = 0) -> FloatGraph:
    """The classifier with queries, keys and values from one product, as fused models have them."""
    sizes = sizes or Sizes(layers=2, width=256, heads=4, hidden=1024)
    return _classified(_Block("packed-classifier", sizes, seed, form="packed"))


def adapter(sizes: Sizes | None = None, seed: int = 0) -> FloatGraph:
    """An encoder layer, each matrix of which has an adapter of a low rank beside it (LoRA)."""
    block = _Block("adapter", sizes or Sizes(), seed, adapters=True)
    return block.finish("encoded", block.layer(block.input("x")))


def heads_apart(sizes: Sizes | None = None, seed: int = 0) -> FloatGraph:
    """Attention over eight tokens, with a query, a key and a value product for each head."""
    block = _Block("heads-apart", sizes or Sizes(tokens=8), seed, form="apart")
    return block.finish("attended", block.attended(block.input("x")))


def twins(sizes: Sizes | None = None, seed: int = 0) -> FloatGraph:
    """Two texts of eight tokens through one encoder layer with the same weights, and their sum."""
    sizes = sizes or Sizes(tokens=8)
    block = _Block("twins", sizes, seed)
    one = block.layer(block.input("one"))
    block.random = np.random.default_rng(seed)
    other = block.layer(block.input("other"))
    return block.finish("both", block.builder.op("add", one, other))


REWRITABLE: Final[dict[str, Callable[..., FloatGraph]]] = {
    "classifier": classifier,
    "packed-classifier": packed_classifier,
    "adapter": adapter,
    "heads-apart": heads_apart,
    "twins": twins,
}
"""The graphs by name."""


def _classified(block: "_Block") -> FloatGraph:
    sizes, x = block.sizes, block.input("x")
    for _ in range(sizes.layers):
        x = block.layer(x)
    one = (1, 1, sizes.width)
    first = block.builder.op("slice", x, starts=(0, 0, 0), sizes=one, steps=(1, 1, 1))
    return block.finish("classes", block.linear(first, sizes.classes))


_SMALL: Final = Sizes(layers=2, width=64, heads=4, hidden=128, tokens=16, rank=4)

SMALL: Final[dict[str, Callable[[], FloatGraph]]] = {
    f"small-{name}": partial(make, _SMALL) for name, make in REWRITABLE.items()
}
"""The same graphs in a size for lessons and tests."""


class _Block:
    """Layers in the making."""

    def __init__(
        self, name: str, sizes: Sizes, seed: int, *, adapters: bool = False, form: str = "plain"
    ):
        self.builder = GraphBuilder(name)
        self.sizes, self.adapters, self.form = sizes, adapters, form
        self.random = np.random.default_rng(seed)

    def input(self, name: str) -> str:
        """The rows of all tokens."""
        shape = (1, self.sizes.tokens, self.sizes.width)
        return self.builder.input(name, TensorType("float32", shape))

    def finish(self, name: str, output: str) -> FloatGraph:
        """The graph with this output."""
        return self.builder.finish({name: output})

    def layer(self, x: str) -> str:
        """Attention and a feed-forward network, each normalized behind its sum."""
        x = self.attended(x)
        hidden = self.builder.op("gelu", self.linear(x, self.sizes.hidden), form="erf")
        return self._normalized(x, self.linear(hidden, self.sizes.width))

    def attended(self, x: str) -> str:
        """Attention with its output, its sum and its normalization."""
        width = self.sizes.width // self.sizes.heads
        scale, plain = width**-0.5, {"causal": False, "first_query": 0}
        heads = self._packed(x) if self.form == "packed" else [self._heads(x) for _ in range(3)]
        context = self.builder.op("attention", *heads, scale=scale, **plain)
        rows = self.builder.op("transpose", context, permutation=(0, 2, 1, 3))
        shape = (1, self.sizes.tokens, self.sizes.width)
        rows = self.builder.op("reshape", rows, shape=shape)
        return self._normalized(x, self.linear(rows, self.sizes.width))

    def _heads(self, x: str) -> str:
        """Queries, keys or values of all heads: (1, heads, tokens, columns)."""
        sizes, width = self.sizes, self.sizes.width // self.sizes.heads
        if self.form == "apart":
            shape = (1, 1, sizes.tokens, width)
            parts = [
                self.builder.op("reshape", self.linear(x, width), shape=shape)
                for _ in range(sizes.heads)
            ]
            return self.builder.op("concat", *parts, axis=1)
        rows = self.builder.op(
            "reshape", self.linear(x, sizes.width), shape=(1, sizes.tokens, sizes.heads, width)
        )
        return self.builder.op("transpose", rows, permutation=(0, 2, 1, 3))

    def _packed(self, x: str) -> list[str]:
        """Queries, keys and values of one product, each as heads."""
        sizes, width = self.sizes, self.sizes.width // self.sizes.heads
        shape = (1, sizes.tokens, 3, sizes.heads, width)
        rows = self.builder.op("reshape", self.linear(x, 3 * sizes.width), shape=shape)
        parts = self.builder.op("transpose", rows, permutation=(2, 0, 3, 1, 4))
        one = (1, *self.builder.type(parts).shape[1:])
        return [
            self.builder.op(
                "reshape",
                self.builder.op(
                    "slice", parts, starts=(number, 0, 0, 0, 0), sizes=one, steps=(1,) * 5
                ),
                shape=one[1:],
            )
            for number in range(3)
        ]

    def linear(self, x: str, cols: int) -> str:
        """``x w + b``; with an adapter, ``+ (x a) b / 2``."""
        rows = self.builder.type(x).shape[-1]
        found = self.builder.op("matmul", x, self._weights(rows, cols))
        bias = self.random.normal(0, 0.1, cols).astype(np.float32)
        found = self.builder.op("add", found, self.builder.constant(bias))
        if not self.adapters:
            return found
        narrow = self.builder.op("matmul", x, self._weights(rows, self.sizes.rank))
        wide = self.builder.op("matmul", narrow, self._weights(self.sizes.rank, cols))
        half = self.builder.op("mul", wide, self.builder.like(0.5, wide))
        return self.builder.op("add", found, half)

    def _weights(self, rows: int, cols: int) -> str:
        weights = self.random.normal(0, rows**-0.5, (rows, cols))
        return self.builder.constant(weights.astype(np.float32), "weights")

    def _normalized(self, x: str, other: str) -> str:
        total, width = self.builder.op("add", other, x), self.sizes.width
        gamma, beta = (self.random.normal(mean, 0.1, width) for mean in (1, 0))
        parameters: list[Any] = [gamma, beta]
        vectors = [self.builder.constant(each.astype(np.float32)) for each in parameters]
        return self.builder.op("layernorm", total, *vectors, axis=2, epsilon=EPSILON)
