"""A product and what is computed of its sums: these stay on the chip, or pass through memory.

The pairs are those of figures 21 and 22 of "Full Stack Optimization of Transformer Inference" (Kim
et al., arXiv 2302.14017): scores with their softmax, and a linear layer with the residual sum and
the layer normalization behind it.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.numerics import EXPONENT_FRACTION_BITS
from celosia.isa.numerics.exponential import NUMERATOR_MAX
from celosia.sw.ir.graph import AddResidual, Requantize, Softmax, Sums, Tensor, View
from celosia.sw.ir.graph_builder import GraphBuilder
from celosia.sw.models.cases import Case, normalized_twice
from celosia.sw.models.random_operands import INT8_SPREAD, int8_matrix, int16_matrix

__all__ = ["context_case", "linear_norm_case", "scores_case"]

_SCORES_SPREAD: Final = 2.0
"""Standard deviation of scores: that of their products times their scale."""
_STREAM_SPREAD: Final = 2000.0
"""Standard deviation of the int16 residual stream, and of the sum that is added to it."""


def scores_case(heads: int, rows: int, width: int, seed: int, *, spilled: bool) -> Case:
    """Probabilities (uint8) of `heads` heads of `width` columns over `rows` tokens.

    With `spilled`, scores go to memory as int32 sums and come back for softmax.
    """
    builder = GraphBuilder(f"scores and softmax, {heads} heads, {rows} tokens, {width} wide")
    _probabilities(builder, (heads, rows, width), spilled=spilled)
    inputs = _operands(seed, rows, heads * width, ("query", "key"))
    return Case(builder.finish("probabilities"), inputs)


def context_case(heads: int, rows: int, width: int, seed: int, *, spilled: bool) -> Case:
    """The same, and the contexts (int8) that the probabilities weight, as products of their own."""
    builder = GraphBuilder(f"attention by operators, {heads} heads, {rows} tokens, {width} wide")
    weights = _probabilities(builder, (heads, rows, width), spilled=spilled)
    values = builder.input(Tensor("value", "int8", rows, heads * width))
    out = builder.tensor(Tensor("context", "int8", rows, heads * width))
    finish = Requantize(float(np.float32(1 / NUMERATOR_MAX)))
    for head in range(heads):
        own = weights.part(row=head * rows, rows=rows)
        vh, oh = (x.part(col=head * width, cols=width) for x in (values, out))
        builder.matmul(f"context.head{head}", oh, own, vh, finish)
    inputs = _operands(seed, rows, heads * width, ("query", "key", "value"))
    return Case(builder.finish("context"), inputs)


def _probabilities(builder: GraphBuilder, size: tuple[int, int, int], *, spilled: bool) -> View:
    """The probabilities of all heads, one below the other."""
    heads, rows, width = size
    q, k = (builder.input(Tensor(name, "int8", rows, heads * width)) for name in ("query", "key"))
    out = builder.tensor(Tensor("probabilities", "uint8", heads * rows, rows))
    spread = INT8_SPREAD**2 * np.sqrt(width)
    softmax = Softmax(float(np.float32(2**EXPONENT_FRACTION_BITS * _SCORES_SPREAD / spread)))
    sums = builder.tensor(Tensor("scores", "int32", heads * rows, rows)) if spilled else None
    for head in range(heads):
        name = f"scores.head{head}"
        block = out.part(row=head * rows, rows=rows)
        qh, kh = (x.part(col=head * width, cols=width) for x in (q, k))
        if sums is None:
            builder.matmul(name, block, qh, kh, softmax, b_transposed=True)
            continue
        own = sums.part(row=head * rows, rows=rows)
        builder.matmul(name, own, qh, kh, Sums(), b_transposed=True)
        builder.transform(f"softmax.head{head}", block, own, softmax)
    return out


def _operands(seed: int, rows: int, cols: int, names: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    random = np.random.default_rng(seed)
    return {name: int8_matrix(random, rows, cols) for name in names}


def linear_norm_case(rows: int, cols: int, depth: int, seed: int, *, spilled: bool) -> Case:
    """A linear layer of `depth` inputs, added to a residual stream that is then normalized.

    With `spilled`, its int32 sums go to memory and come back for the residual sum.
    """
    random = np.random.default_rng(seed)
    builder = GraphBuilder(f"linear layer and normalization, {rows}x{cols}x{depth}")
    a = builder.input(Tensor("a", "int8", rows, depth))
    stream = builder.input(Tensor("stream", "int16", rows, cols))
    weights = builder.constant("weights", int8_matrix(random, depth, cols))
    bias = builder.constant("bias", random.integers(-(1 << 12), 1 << 12, (1, cols), np.int32))
    total = builder.tensor(Tensor("total", "int16", rows, cols))
    scale = float(np.float32(_STREAM_SPREAD / (INT8_SPREAD**2 * np.sqrt(depth))))
    finish = AddResidual(scale, stream, 1.0)
    if spilled:
        sums = builder.tensor(Tensor("sums", "int32", rows, cols))
        builder.matmul("linear", sums, a, weights, Sums(), bias=bias)
        builder.transform("residual", total, sums, finish)
    else:
        builder.matmul("linear", total, a, weights, finish, bias=bias)
    builder.layernorm("norm", total, normalized_twice(builder, random, rows, cols))
    inputs = {
        "a": int8_matrix(random, rows, depth),
        "stream": int16_matrix(random, rows, cols, _STREAM_SPREAD),
    }
    return Case(builder.finish("small", "wide"), inputs)
