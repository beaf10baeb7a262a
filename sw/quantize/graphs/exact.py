"""What integer graphs would compute if functions were exact: the same formats, no polynomials.

Products, scales and formats stay what they are; softmax, activations and norms are computed in
float64 and rounded once.  What a model loses beyond that is lost by the accelerator's functions.
"""

from collections.abc import Collection, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.config import AcceleratorConfig
from celosia.isa.functions.table import ACTIVATIONS
from celosia.isa.numerics import (
    CONTEXT_FRACTION_BITS,
    EXPONENT_FRACTION_BITS,
    NORMALIZED_FRACTION_BITS,
    dither,
)
from celosia.isa.numerics.exponential import NUMERATOR_SHIFT
from celosia.sw.frontend.nn.operators.operator import Array
from celosia.sw.ir.graph import (
    Activation,
    DeferredSoftmax,
    DivideBySums,
    Graph,
    LayerNorm,
    MatMul,
    Op,
    Softmax,
    Transform,
)
from celosia.sw.ir.graph_interpret import Machine, checked_inputs
from celosia.sw.ir.graphs.finishes import visible_columns
from celosia.sw.ir.graphs.operator import Values
from celosia.sw.passes.short_scales import short_scales
from celosia.sw.quantize.curves import real_curve
from celosia.sw.quantize.graphs.quantized import QuantizedGraph, SegmentRunner
from celosia.sw.quantize.units.segments import Segment

__all__ = ["exact"]

_ONE: Final = 2.0**NORMALIZED_FRACTION_BITS
"""What stands for 1 in a normalized row."""
_NUMERATOR: Final = 255
"""The numerator of a row's maximum."""


def exact(
    model: QuantizedGraph,
    config: AcceleratorConfig | None = None,
    *,
    but: Collection[str] = (),
) -> SegmentRunner:
    """What computes segments of `model` with exact functions, and scales that `config` takes.

    Functions of these nodes of the model's file, `but`, are the accelerator's.
    """

    def run(number: int, graph: Graph, inputs: Mapping[str, Array]) -> Mapping[str, Array]:
        graph = graph if config is None else short_scales(graph, config)
        segment = model.segments[number]
        machine = _Exact(graph, checked_inputs(graph, inputs), segment)
        for op in graph.ops:
            if but and segment.node(op.name) in but:
                op.compute(Values(machine.constants, machine.values))
            else:
                machine.take(op)
        return machine.values

    return run


class _Exact(Machine):
    """An interpreter whose functions are those of real numbers."""

    def __init__(self, graph: Graph, inputs: dict[str, Array], segment: Segment):
        super().__init__(graph, inputs)
        self.segment = segment

    def take(self, op: Op) -> None:
        if isinstance(op, LayerNorm):
            self.normalize(op)
        else:
            super().take(op)

    def normalize(self, op: LayerNorm) -> None:
        x = self.read(op.source).astype(np.float64)
        if not op.rms:
            x -= x.mean(axis=1, keepdims=True)
        squares = np.square(x).sum(axis=1, keepdims=True) + op.epsilon
        y = x / np.sqrt(np.maximum(squares, 1)) * _ONE
        for output in op.outputs:
            gamma, beta = self.read(output.gamma)[0], self.read(output.beta)[0]
            value = (y * gamma + beta) / 2.0**output.shift
            self.write(output.out, _rounded(value, self.values[output.out.tensor]))

    def finish(self, op: MatMul | Transform, sums: Array) -> Array:
        out, how = self.values[op.out.tensor], op.finish
        match how:
            case Activation():
                curve = ACTIVATIONS[how.function]
                alpha = self.segment.gelus.get(self.segment.unit(op.name))
                x = sums * np.float64(self.scale(how.scale)) / 2.0**curve.fraction_bits
                if alpha is None:
                    y = real_curve(how.function, x)
                else:
                    y = real_curve("gelu", x / alpha) * alpha
                return _rounded(y / curve.unit * how.out_scale + how.zero_point, out)
            case DeferredSoftmax():
                scores = sums * (how.scale / 2.0**EXPONENT_FRACTION_BITS)
                visible = visible_columns(how.mask, sums)
                if visible is not None:
                    scores = np.where(visible, scores, -np.inf)
                # Where a query sees no key, its exponentials are 0, and their sum counts as 1.
                highest = np.maximum(scores.max(axis=1, keepdims=True), np.finfo(np.float64).min)
                value = np.exp(scores - highest) * _NUMERATOR
                if how.dithered:  # Rounding to the nearest integer adds one half by itself.
                    value += dither(value.shape[1]) / 2.0**NUMERATOR_SHIFT - 0.5
                value = _rounded(value, out)
                totals = value.sum(axis=1, keepdims=True, dtype=np.int32)
                self.write(how.sums, np.maximum(totals, 1))
                return value
            case Softmax():
                scores = sums * (how.scale / 2.0**EXPONENT_FRACTION_BITS)
                powers = np.exp(scores - scores.max(axis=1, keepdims=True))
                shares = powers / powers.sum(axis=1, keepdims=True)
                return _rounded(shares * np.iinfo(out.dtype).max, out)
            case DivideBySums():
                means = sums / self.read(how.sums) * 2.0**CONTEXT_FRACTION_BITS
                return _rounded(means * np.float64(self.scale(how.scale)), out)
            case _:
                return super().finish(op, sums)


def _rounded(x: NDArray[np.float64], like: Array) -> Array:
    info = np.iinfo(like.dtype)
    return np.clip(np.rint(x), info.min, info.max).astype(like.dtype)
