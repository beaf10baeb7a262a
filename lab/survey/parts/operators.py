"""Operators as the survey counts them: each alone, read from the graph that the compiler gets."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import numpy as np

from celosia.sw.ir.graph import (
    Activation,
    AddResidual,
    DeferredSoftmax,
    DivideBySums,
    Graph,
    LayerNorm,
    MatMul,
    Requantize,
)
from celosia.sw.models.encoder import encoder_layer_graph
from celosia.sw.quantize.encoders.float_graph import encoder_float_graph, encoder_outline
from celosia.sw.quantize.graphs.sketch import sketch
from celosia.sw.reference.encoder import BERT_BASE, BERT_LARGE, EncoderShape, Norm

__all__ = [
    "ATTENTION",
    "ELEMENT_FLOPS",
    "FFN",
    "MODELS",
    "OTHER",
    "PROJECTION",
    "Elementwise",
    "Operator",
    "Product",
    "layer_operators",
    "one_query",
]

MODELS: Final = {"BERT-Base": BERT_BASE, "BERT-Large": BERT_LARGE}

PROJECTION: Final = "MHA projection"
ATTENTION: Final = "act-to-act"
FFN: Final = "FFN"
OTHER: Final = "other"

ELEMENT_FLOPS: Final = {"softmax": 4, "gelu": 10, "layernorm": 8, "residual": 1}
"""Operations per element.  The survey has none; from its table 3 follow 4 of softmax, and 58 per
token and column of the rest, which is 2 layernorm + 4 gelu + 2 residual."""


@dataclass(frozen=True, kw_only=True)
class Product:
    """``count`` matrix products of one size."""

    name: str
    group: str
    rows: int
    cols: int
    depth: int
    count: int = 1
    bias: bool
    wide: bool
    """What comes next is not linear, and reads int32 sums."""

    @property
    def macs(self) -> int:
        """Multiply-accumulates."""
        return self.count * self.rows * self.cols * self.depth

    @property
    def flops(self) -> int:
        """Multiplications and additions; a bias is one addition more."""
        return self.count * self.rows * self.cols * (2 * self.depth - 1 + self.bias)

    @property
    def elements(self) -> int:
        """Elements that are read and written if each operand moves once; no bias."""
        a, b, c = self.rows * self.depth, self.depth * self.cols, self.rows * self.cols
        return self.count * (a + b + c)


@dataclass(frozen=True, kw_only=True)
class Elementwise:
    """An operator that is no product."""

    name: str
    size: int
    """Elements that it writes."""
    inputs: int = 1
    """Elements that it reads for each."""
    parameters: int = 0
    wide: bool = True
    """It reads int32 sums."""
    group: str = OTHER

    @property
    def flops(self) -> int:
        """Operations, by `ELEMENT_FLOPS`."""
        return ELEMENT_FLOPS[self.name] * self.size

    @property
    def elements(self) -> int:
        """Elements that are read and written."""
        return self.size * (self.inputs + 1) + self.parameters


Operator = Product | Elementwise


@cache
def layer_operators(shape: EncoderShape, tokens: int) -> tuple[Operator, ...]:
    """The operators of one layer of an encoder of `shape` on `tokens` tokens, equal ones merged."""
    return _merged(_operators(_graph(shape.with_layers(2), tokens)))


def one_query(operators: Sequence[Operator], tokens: int) -> tuple[Operator, ...]:
    """What a decoder does for one token behind `tokens` - 1 others, out of a layer for all."""
    found: list[Operator] = []
    for op in operators:
        if isinstance(op, Product):
            found.append(replace(op, rows=op.rows // tokens))
        else:
            found.append(replace(op, size=op.size // tokens))
    return tuple(found)


def _graph(shape: EncoderShape, tokens: int) -> Graph:
    """A layer's graph, whose numbers mean nothing: only sizes count here."""
    ones = np.ones(shape.width, np.float32)
    norm = Norm(ones, ones)
    weights = encoder_outline(shape, norm, ((norm, norm),) * shape.layers)
    (graph,), _ = sketch(encoder_float_graph(weights, [tokens]), named=True)
    return encoder_layer_graph(graph)


def _operators(graph: Graph) -> Iterable[Operator]:
    for op in graph.ops:
        if isinstance(op, LayerNorm):
            size = op.source.rows * op.source.cols
            yield Elementwise(name="layernorm", size=size, parameters=2 * op.source.cols)
        elif isinstance(op, MatMul):
            name = op.name.split(".")[1]
            yield Product(
                name="query, key, value" if name in ("query", "key", "value") else name,
                group=_group(op, graph),
                rows=op.out.rows,
                cols=op.out.cols,
                depth=op.a.cols,
                bias=op.bias is not None,
                wide=not isinstance(op.finish, Requantize | DivideBySums),
            )
            yield from _finish(op)


def _group(op: MatMul, graph: Graph) -> str:
    if op.b.tensor not in graph.constants:
        return ATTENTION
    products = [each for each in graph.ops if isinstance(each, MatMul)]
    hidden = {each.out.tensor for each in products if isinstance(each.finish, Activation)}
    return FFN if hidden & {op.a.tensor, op.out.tensor} else PROJECTION


def _finish(op: MatMul) -> Iterable[Elementwise]:
    size = op.out.rows * op.out.cols
    match op.finish:
        case DeferredSoftmax():
            yield Elementwise(name="softmax", size=size)
        case Activation(function=function):
            yield Elementwise(name=function, size=size)
        case AddResidual():
            yield Elementwise(name="residual", size=size, inputs=2, wide=False)
        case _:
            pass


def _merged(operators: Iterable[Operator]) -> tuple[Operator, ...]:
    """Equal operators as one: products are counted, sizes of others added."""
    merged: dict[object, Operator] = {}
    for op in operators:
        if isinstance(op, Product):
            known = merged.get(op)
            count = known.count + 1 if isinstance(known, Product) else 1
            merged[op] = replace(op, count=count)
        else:
            known = merged.get(op.name)
            more = known if isinstance(known, Elementwise) else replace(op, size=0, parameters=0)
            merged[op.name] = replace(
                op, size=more.size + op.size, parameters=more.parameters + op.parameters
            )
    return tuple(merged.values())
