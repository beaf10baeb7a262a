"""Single operators, layers and encoders with seeded random operands, each a graph of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.functions.table import ACTIVATIONS
from celosia.isa.numerics import EXPONENT_FRACTION_BITS
from celosia.sw.ir.graph import (
    NO_MASK,
    Activation,
    AddResidual,
    Combine,
    DeferredSoftmax,
    DivideBySums,
    Finish,
    Graph,
    Mask,
    Normalized,
    Requantize,
    Softmax,
    Tensor,
)
from celosia.sw.ir.graph_builder import GraphBuilder
from celosia.sw.ir.graph_interpret import interpret
from celosia.sw.models.encoder import encoder_layer_graph, first_norm_graph
from celosia.sw.models.random_operands import (
    INT8_SPREAD,
    int8_matrix,
    int16_matrix,
    normal_matrix,
)
from celosia.sw.quantize.encoders.encoder import Progress, QuantizedEncoder, quantize_encoder
from celosia.sw.quantize.norm import quantize_norm
from celosia.sw.quantize.rotary import rotary_table
from celosia.sw.quantize.spread import HiddenRange
from celosia.sw.reference.encoder import EncoderShape, Norm
from celosia.sw.reference.random_encoder import random_embeddings, random_encoder

__all__ = [
    "Case",
    "activation_case",
    "attention_case",
    "encoder_case",
    "encoder_layer_case",
    "layernorm_case",
    "matmul_case",
    "multiply_case",
    "normalized_twice",
    "random_quantized_encoder",
    "residual_case",
    "rmsnorm_case",
    "rotate_case",
    "softmax_case",
]

_SUM_STEP: Final = 1e-4
"""What 1 in random int32 sums stands for."""
_ACTIVATION_LIMIT: Final = 6.0
_NORM_SPREAD: Final = 2000
_CALIBRATION_TOKENS: Final = 512
_CALIBRATION_SEED: Final = 1000
"""Added to a seed: calibration is not on the case's own input."""


@dataclass(frozen=True, eq=False)
class Case:
    """A graph and its inputs."""

    graph: Graph
    inputs: Mapping[str, NDArray[Any]]


def matmul_case(rows: int, cols: int, depth: int, seed: int) -> Case:
    """``requantize(a @ b + bias)``, with a scale for each column."""
    random, builder = np.random.default_rng(seed), GraphBuilder(f"matmul {rows}x{cols}x{depth}")
    a = builder.input(Tensor("a", "int8", rows, depth))
    b = builder.constant("b", int8_matrix(random, depth, cols))
    bias = builder.constant("bias", random.integers(-(1 << 12), 1 << 12, (1, cols), np.int32))
    scales = INT8_SPREAD / (INT8_SPREAD**2 * np.sqrt(depth)) * random.uniform(0.5, 1, (1, cols))
    scale = builder.constant("scale", scales.astype(np.float32))
    out = builder.tensor(Tensor("out", "int8", rows, cols))
    builder.matmul("matmul", out, a, b, Requantize(scale), bias=bias)
    return Case(builder.finish("out"), {"a": int8_matrix(random, rows, depth)})


def softmax_case(
    rows: int, cols: int, seed: int, *, kind: str = "uint8", mask: Mask = NO_MASK
) -> Case:
    """Normalized softmax of scores with a standard deviation of 2."""
    scale = _SUM_STEP * 2**EXPONENT_FRACTION_BITS
    return _transform_case("softmax", rows, cols, seed, kind, Softmax(scale, mask), spread=2)


def activation_case(function: str, rows: int, cols: int, seed: int, *, kind: str = "uint8") -> Case:
    """A curve of numbers with a standard deviation of 1; results of uint8 have a zero point."""
    curve = ACTIVATIONS[function]
    hidden = HiddenRange.between(curve.least, _ACTIVATION_LIMIT)
    scale = _SUM_STEP * 2**curve.fraction_bits
    zero_point = hidden.zero_point if kind == "uint8" else 0
    finish = Activation(function, scale, curve.unit / hidden.step, zero_point)
    return _transform_case(function, rows, cols, seed, kind, finish, spread=1)


def residual_case(rows: int, cols: int, seed: int) -> Case:
    """int32 and int16, each with a scale, to int16."""
    random, builder = np.random.default_rng(seed), GraphBuilder(f"residual {rows}x{cols}")
    source = builder.input(Tensor("source", "int32", rows, cols, _SUM_STEP))
    stream = builder.input(Tensor("stream", "int16", rows, cols, 2e-4))
    out = builder.tensor(Tensor("out", "int16", rows, cols, 3e-4))
    finish = AddResidual(_SUM_STEP / 3e-4, stream, 2e-4 / 3e-4)
    builder.transform("residual", out, source, finish)
    inputs = {
        "source": normal_matrix(random, rows, cols, 1 / _SUM_STEP).astype(np.int32),
        "stream": int16_matrix(random, rows, cols, 1 / 2e-4),
    }
    return Case(builder.finish("out"), inputs)


def layernorm_case(rows: int, cols: int, seed: int) -> Case:
    """Layer normalization with an int8 and an int16 output."""
    return _norm_case("layernorm", rows, cols, seed)


def rmsnorm_case(rows: int, cols: int, seed: int) -> Case:
    """RMS normalization with an int8 and an int16 output; epsilon is 1 % of the mean square."""
    return _norm_case("rmsnorm", rows, cols, seed, epsilon=cols * _NORM_SPREAD**2 // 100, rms=True)


def _norm_case(
    kind: str, rows: int, cols: int, seed: int, *, epsilon: int = 0, rms: bool = False
) -> Case:
    random, builder = np.random.default_rng(seed), GraphBuilder(f"{kind} {rows}x{cols}")
    outputs = normalized_twice(builder, random, rows, cols)
    source = builder.input(Tensor("source", "int16", rows, cols))
    builder.layernorm(kind, source, outputs, epsilon=epsilon, rms=rms)
    return Case(
        builder.finish("small", "wide"), {"source": int16_matrix(random, rows, cols, _NORM_SPREAD)}
    )


def normalized_twice(
    builder: GraphBuilder, random: np.random.Generator, rows: int, cols: int
) -> list[Normalized]:
    """The tensors `small` (int8) and `wide` (int16) of a normalization with random parameters."""
    gamma, beta = (normal_matrix(random, 1, cols, 0.1)[0] for _ in range(2))
    norm = Norm((1 + gamma).astype(np.float32), beta.astype(np.float32))
    outputs = []
    for name, output, step in (("small", "int8", 4 / 127), ("wide", "int16", 8 / 32767)):
        arrays = quantize_norm(name, norm, step)
        out = builder.tensor(Tensor(name, output, rows, cols, step))
        gamma_view = builder.constant(f"{name}.gamma", arrays[f"{name}.gamma"])
        beta_view = builder.constant(f"{name}.beta", arrays[f"{name}.beta"])
        outputs.append(Normalized(out, gamma_view, beta_view, int(arrays[f"{name}.shift"])))
    return outputs


def multiply_case(rows: int, cols: int, seed: int) -> Case:
    """A product element by element, of a gate with what it lets through: int8."""
    random, builder = np.random.default_rng(seed), GraphBuilder(f"multiply {rows}x{cols}")
    gate, up = (builder.input(Tensor(name, "int16", rows, cols)) for name in ("gate", "up"))
    out = builder.tensor(Tensor("out", "int8", rows, cols))
    scale = float(np.float32(127 / (4 * _NORM_SPREAD) ** 2))
    builder.combine(
        Combine(name="multiply", function="multiply", out=out, a=gate, b=up, scale=scale)
    )
    inputs = {name: int16_matrix(random, rows, cols, _NORM_SPREAD) for name in ("gate", "up")}
    return Case(builder.finish("out"), inputs)


def rotate_case(rows: int, cols: int, seed: int) -> Case:
    """Rotary embeddings of a head of `cols` columns, at the positions 0 to ``rows - 1``: int8."""
    random, builder = np.random.default_rng(seed), GraphBuilder(f"rotate {rows}x{cols}")
    source = builder.input(Tensor("source", "int16", rows, cols))
    table = builder.constant("angles", rotary_table(np.arange(rows), cols))
    out = builder.tensor(Tensor("out", "int8", rows, cols))
    scale = float(np.float32(127 / (4 * _NORM_SPREAD)))
    builder.combine(
        Combine(name="rotate", function="rotate", out=out, a=source, b=table, scale=scale)
    )
    return Case(builder.finish("out"), {"source": int16_matrix(random, rows, cols, _NORM_SPREAD)})


def attention_case(
    heads: int,
    rows: int,
    width: int,
    seed: int,
    *,
    mask: Mask = NO_MASK,
    dithered: bool = False,
) -> Case:
    """Deferred attention of `heads` heads of `width` columns over `rows` tokens.

    `dithered`, numerators are rounded by their keys.
    """
    random = np.random.default_rng(seed)
    builder = GraphBuilder(f"attention {heads} heads, {rows} tokens, {width} wide{mask}")
    names, cols = ("query", "key", "value"), heads * width
    q, k, v = (builder.input(Tensor(name, "int8", rows, cols)) for name in names)
    context = builder.tensor(Tensor("context", "int8", rows, cols))
    numerators = builder.tensor(Tensor("numerators", "uint8", heads * rows, rows))
    sums = builder.tensor(Tensor("sums", "int32", heads * rows, 1))
    scale = 2**EXPONENT_FRACTION_BITS * 2 / (INT8_SPREAD**2 * np.sqrt(width))
    for head in range(heads):
        block = numerators.part(row=head * rows, rows=rows)
        totals = sums.part(row=head * rows, rows=rows)
        qh, kh, vh, out = (x.part(col=head * width, cols=width) for x in (q, k, v, context))
        softmax = DeferredSoftmax(
            float(np.float32(scale)), totals, mask, stored=True, dithered=dithered
        )
        builder.matmul(f"scores.head{head}", block, qh, kh, softmax, b_transposed=True)
        builder.matmul(f"context.head{head}", out, block, vh, DivideBySums(totals, 2.0**-15))
    return Case(
        builder.finish("context"), {name: int8_matrix(random, rows, cols) for name in names}
    )


def random_quantized_encoder(
    shape: EncoderShape, seed: int, progress: Progress = lambda done, total: None
) -> QuantizedEncoder:
    """An encoder with random weights, quantized on random embeddings; without tables."""
    lengths = [_CALIBRATION_TOKENS // 4] * 4
    x = random_embeddings(shape, lengths, seed + _CALIBRATION_SEED)
    return quantize_encoder(random_encoder(shape, seed), x, lengths, progress=progress)


def encoder_layer_case(model: QuantizedEncoder, lengths: Sequence[int], seed: int) -> Case:
    """The first of several layers of `model`, with both outputs for the layer behind it."""
    whole = encoder_case(model, lengths, seed)
    values = interpret(first_norm_graph(whole.graph), whole.inputs)
    graph = encoder_layer_graph(whole.graph)
    return Case(graph, {name: values[name] for name in graph.inputs})


def encoder_case(model: QuantizedEncoder, lengths: Sequence[int], seed: int) -> Case:
    """All of `model`, on random embeddings."""
    graph, x = model.graph(lengths), random_embeddings(model.shape, lengths, seed)
    (name,) = graph.inputs
    whole = np.rint(x / np.float32(model.input_step))
    return Case(graph, {name: np.clip(whole, -32768, 32767).astype(np.int16)})


def _transform_case(
    name: str, rows: int, cols: int, seed: int, kind: str, finish: Finish, *, spread: float
) -> Case:
    """One operator on int32 sums with this standard deviation."""
    random, builder = np.random.default_rng(seed), GraphBuilder(f"{name} {rows}x{cols}")
    source = builder.input(Tensor("source", "int32", rows, cols, _SUM_STEP))
    out = builder.tensor(Tensor("out", kind, rows, cols))
    builder.transform(name, out, source, finish)
    values = normal_matrix(random, rows, cols, spread / _SUM_STEP).astype(np.int32)
    return Case(builder.finish("out"), {"source": values})
