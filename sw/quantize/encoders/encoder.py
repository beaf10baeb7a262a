"""An encoder quantized as a graph, on the activations of calibration texts.

Formats, weights and scales are those of `celosia.sw.quantize.graphs`; what its integer graph says
of one text becomes the arrays of a model, which has texts of any lengths.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.sw.ir.graph import (
    Activation,
    AddResidual,
    DeferredSoftmax,
    DivideBySums,
    Graph,
    LayerNorm,
    MatMul,
    Requantize,
    View,
)
from celosia.sw.quantize.checks import check_finite
from celosia.sw.quantize.encoders.float_graph import by_heads, encoder_float_graph
from celosia.sw.quantize.graphs.emit import Segment, emit_segments
from celosia.sw.quantize.graphs.find_units import find_units
from celosia.sw.quantize.graphs.formats import Format, choose_formats
from celosia.sw.quantize.graphs.observe import Observed
from celosia.sw.quantize.graphs.segments import Form, plan_segments
from celosia.sw.quantize.model import IntegerEncoder, verify
from celosia.sw.quantize.ranges import Clip
from celosia.sw.quantize.tables import quantize_tables, table_step
from celosia.sw.reference.embedding import Embeddings
from celosia.sw.reference.encoder import EncoderWeights, Floats, encode

__all__ = ["Progress", "quantize_encoder"]

Progress = Callable[[int, int], object]
"""Told the formats and products that are chosen so far, and their number."""

_ROWS: Final = 2048
"""The most rows of each tensor that formats are chosen by."""

Arrays = dict[str, NDArray[Any]]


def quantize_encoder(
    weights: EncoderWeights,
    x: Floats,
    lengths: Sequence[int],
    *,
    embeddings: Embeddings | None = None,
    progress: Progress = lambda done, total: None,
    clip: Clip = "error",
) -> IntegerEncoder:
    """`weights` as integers, calibrated on `x`: the sums of embeddings of texts of `lengths`.

    Values of 8 bits are clipped by the criterion `clip`.  With `embeddings`, the model has their
    tables, and their sums never saturate.  Raises `ValueError` for weights, tables or activations
    that are not finite, and for what is too large.
    """
    check_finite(weights, embeddings, x)
    graph = encoder_float_graph(weights)
    units = find_units(graph)
    for name, reason in units.refusals.items():
        raise ValueError(f"{name}: {reason}")
    segments = plan_segments(graph, units)
    seen = Observed(units.values.values(), _ROWS)

    def take(name: str, value: Floats) -> None:
        by_head = name.endswith(".context")
        seen.take(0, name, by_heads(value, weights.shape.heads) if by_head else value)

    encode(weights, x, lengths, take)
    formats = choose_formats(segments, seen, clip, progress)
    arrays: Arrays = {}
    if embeddings is not None:
        step = table_step(embeddings)
        arrays = quantize_tables(embeddings, step)
        source = Format("int16", np.full(weights.shape.width, step))
        formats.forms[Form("embedding", "wide")] = source
    (segment,), _ = emit_segments(segments, formats)
    arrays |= _steps(formats.forms)
    return verify(IntegerEncoder(weights.shape, arrays | _arrays(segment)))


def _steps(forms: Mapping[Form, Format]) -> Arrays:
    """What 1 stands for in each tensor of int16."""
    return {
        f"{'' if form.key in {'embedding', 'output'} else 'layers.'}{form.key}.step": np.array(
            found.step, np.float32
        )
        for form, found in forms.items()
        if form.role == "wide"
    }


def _arrays(segment: Segment) -> Arrays:
    """The numbers of an encoder's integer graph by their names in the model."""
    graph, arrays = segment.graph, Arrays()
    scores: dict[str, list[float]] = {}
    for op in graph.ops:
        group = op.name.partition(".")[0]
        name = segment.operators[group]
        match op:
            case LayerNorm():
                arrays |= _norm(graph, name, op)
            case MatMul(finish=DeferredSoftmax(scale=scale)):
                scores.setdefault(name, []).append(scale)
            case MatMul(finish=DivideBySums(scale=scale)):
                assert isinstance(scale, float), "values and contexts have the same factors"
                arrays[f"{name}.context.scale"] = np.array(scale, np.float32)
            case MatMul():
                arrays |= _product(graph, name, op, is_gelu=group not in segment.gelus)
            case _:
                raise AssertionError(f"{op}: it is not part of an encoder")
    rows = {f"{name}.scores.scale": np.array([each], np.float32) for name, each in scores.items()}
    return arrays | rows


def _norm(graph: Graph, name: str, op: LayerNorm) -> Arrays:
    arrays: Arrays = {f"{name}.epsilon": np.array(op.epsilon, np.float32)}
    for output in op.outputs:
        part = f"{name}.{output.out.tensor.rpartition('.')[2]}"
        arrays[f"{part}.gamma"] = graph.constants[output.gamma.tensor]
        arrays[f"{part}.beta"] = graph.constants[output.beta.tensor]
        arrays[f"{part}.shift"] = np.array(output.shift, np.int32)
    return arrays


def _product(graph: Graph, name: str, op: MatMul, *, is_gelu: bool) -> Arrays:
    finish = op.finish
    assert isinstance(finish, Requantize | Activation | AddResidual)
    assert op.bias is not None
    assert isinstance(finish.scale, View)
    parts = {"weights": op.b, "bias": op.bias, "scale": finish.scale}
    arrays = {f"{name}.{part}": graph.constants[view.tensor] for part, view in parts.items()}
    if isinstance(finish, AddResidual):
        arrays[f"{name}.residual_scale"] = np.array(finish.residual_scale, np.float32)
    if isinstance(finish, Activation):
        hidden = f"{name.rpartition('.')[0]}.hidden"
        arrays[f"{hidden}.gelu"] = np.array(is_gelu, np.int32)
        arrays[f"{hidden}.scale"] = np.array(finish.out_scale, np.float32)
        arrays[f"{hidden}.zero_point"] = np.array(finish.zero_point, np.int32)
    return arrays
