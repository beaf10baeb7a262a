"""What a float graph becomes as integers, as far as cycles can tell: sizes, types, operators.

Nothing is calibrated: every step is 1.  So a rewriting of a float graph has a cost before anybody
knows the ranges of its tensors.
"""

from typing import Final

import numpy as np

from celosia.isa.functions.table import ACTIVATIONS
from celosia.sw.frontend.nn.graph import FloatGraph, Node
from celosia.sw.ir.graph import Graph
from celosia.sw.quantize.curves import Computed
from celosia.sw.quantize.graphs.emit import emit_segments
from celosia.sw.quantize.graphs.formats import Format, Formats
from celosia.sw.quantize.linear import IntegerLinear
from celosia.sw.quantize.units.find_units import find_units
from celosia.sw.quantize.units.segments import Segments, plan_segments
from celosia.sw.quantize.units.units import Finishing, Function, Product
from celosia.sw.quantize.units.values import Form, Role
from celosia.sw.quantize.weight_types import INT8_WEIGHTS, WeightTypes

__all__ = ["sketch"]

_TYPES: Final[dict[Role, str]] = {
    "wide": "int16",
    "small": "int8",
    "heads": "int8",
    "sums": "int32",
    "angles": "int16",
    "onto": "int32",
}


def sketch(
    graph: FloatGraph, *, named: bool = False, weights: WeightTypes = INT8_WEIGHTS
) -> tuple[tuple[Graph, ...], tuple[Node, ...]]:
    """The integer graphs of all segments, whose numbers mean nothing, and the host's nodes.

    Graphs are `named` as `instantiate` names them; products have `weights`.  Raises `ValueError`
    for a graph that is not quantized.
    """
    segments = plan_segments(graph, find_units(graph))
    integers, curves = {}, {}
    for name, unit in segments.units.units.items():
        if isinstance(unit, Product):
            last = name in graph.outputs.values()
            kind = weights.of(last=last)
            integers[name] = IntegerLinear.outline(unit.linear, kind)
        elif isinstance(unit, Finishing | Function) and unit.function in ACTIVATIONS:
            curves[name] = Computed(unit.function, unit.alpha)
    formats = Formats(
        {form: _format(segments, form) for form in segments.forms},
        integers,
        curves,
        frozenset(segments.units.units),
    )
    emitted, _ = emit_segments(segments, formats, named=named)
    host = tuple(node for level in segments.host for node in level)
    return tuple(segment.graph for segment in emitted), host


def _format(segments: Segments, form: Form) -> Format:
    value = segments.units.values[form.key]
    _, cols = value.shape(segments.graph.types()[value.tensor])
    unit = segments.units.units.get(value.tensor)
    curve = isinstance(unit, Finishing) and unit.residual is None
    kind = "uint8" if curve and form.role == "small" else _TYPES[form.role]
    return Format(kind, np.ones(cols))
