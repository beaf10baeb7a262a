"""What it costs that products have one scale, and stores finish all that the accelerator does."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from celosia.isa.config import AcceleratorConfig
from celosia.sim.support.problems import InputError
from celosia.sim.workloads.models.decibels import decibels
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import Array
from celosia.sw.planning.finish import beyond_stores
from celosia.sw.quantize.graphs.quantized import QuantizedGraph, run_model

__all__ = ["check_unit", "losses"]

_SAMPLES: Final = 4
"""Samples of the calibration that outputs are compared on, at most."""


def check_unit(name: str, model: QuantizedGraph, config: AcceleratorConfig) -> None:
    """Raise `InputError` that names the node whose results an accelerator's stores do not make."""
    if config.normalization:
        return
    for segment in model.segments:
        for operator, reason in beyond_stores(segment.graph):
            raise InputError(
                f"{name}: {segment.node(operator)}: {reason}: --per-tensor quantizes for what "
                "stores can do, --set normalization=true builds the unit"
            )


def losses(
    graph: FloatGraph,
    samples: Sequence[Mapping[str, Array]],
    model: QuantizedGraph,
    usual: QuantizedGraph,
) -> Iterator[str]:
    """How far each output of `model` is from the float graph, beside the `usual` integers."""
    some = samples[:_SAMPLES]
    real = [interpret(graph, sample) for sample in some]
    found, other = (
        [run_model(each, sample, count=False).outputs for sample in some] for each in (model, usual)
    )
    for name, array in real[0].items():
        if array.dtype.kind == "f" and array.size:
            mine, best = (
                decibels(*(np.concatenate([np.ravel(each[name]) for each in run]) for run in pair))
                for pair in ((real, found), (real, other))
            )
            yield (
                f"per tensor: {name} is {mine:.1f} dB from float on calibration data, {best:.1f} "
                f"dB with a unit and a scale for each column: that costs {best - mine:.1f} dB"
            )
