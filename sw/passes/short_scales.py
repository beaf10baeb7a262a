"""Scales as short as an accelerator takes them: each becomes the nearest one."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.config import AcceleratorConfig
from celosia.isa.numerics import long_scales, round_scales
from celosia.isa.numerics.float32 import MANTISSA_BITS
from celosia.sw.ir.graph import Graph, Op
from celosia.sw.ir.graphs.tensors import View

__all__ = ["scales_of", "short_scale", "short_scales"]

_FIELDS: Final = ("scale", "out_scale", "residual_scale")
"""What scales are called, of finishes and of combinations."""


def short_scale(scale: float, config: AcceleratorConfig) -> float:
    """The nearest scale that `config` takes."""
    if config.scale_bits == MANTISSA_BITS:
        return scale
    return float(round_scales(scale, config.scale_bits))


def short_scales(graph: Graph, config: AcceleratorConfig) -> Graph:
    """`graph` with scales that `config` takes; the same object if it has no others."""
    if config.scale_bits == MANTISSA_BITS or not any(
        long_scales(each, config.scale_bits).any() for each in scales_of(graph)
    ):
        return graph
    named = (scale for op in graph.ops for _, _, scale in _scales(op))
    vectors = {scale.tensor for scale in named if isinstance(scale, View)}
    constants = {
        name: round_scales(value, config.scale_bits) if name in vectors else value
        for name, value in graph.constants.items()
    }
    ops = tuple(_short(op, config) for op in graph.ops)
    return replace(graph, ops=ops, constants=constants)


def _scales(op: Op) -> Iterator[tuple[Any, str, Any]]:
    """The scales of an operator and of its finish: whose each is, in which field, and it."""
    for part in (op, getattr(op, "finish", None)):
        for name in _FIELDS:
            if (scale := getattr(part, name, None)) is not None:
                yield part, name, scale


def scales_of(graph: Graph) -> Iterator[NDArray[np.float32]]:
    """All scales, those of columns as vectors."""
    for op in graph.ops:
        for _, _, scale in _scales(op):
            if isinstance(scale, View):
                yield graph.constants[scale.tensor][scale.slices].reshape(-1)
            else:
                yield np.full(1, scale, np.float32)


def _short(op: Op, config: AcceleratorConfig) -> Op:
    whole: Any = op
    for part, name, scale in _scales(op):
        if not isinstance(scale, View):
            short = {name: short_scale(scale, config)}
            if part is not op:
                short = {"finish": replace(whole.finish, **short)}
            whole = replace(whole, **short)
    return whole
