"""The published encoder as a saved model like any other, for a text of some tokens."""

from collections.abc import Mapping, Sequence
from typing import Final

from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sim.workloads.models.prepare import Prepared
from celosia.sim.workloads.quantized import published_model
from celosia.sw.frontend.recognize.recognize import Recognized
from celosia.sw.quantize.encoders.encoder import QuantizedEncoder
from celosia.sw.quantize.encoders.encoder_file import calibrated_encoder
from celosia.sw.quantize.graphs.quantized import instantiate
from celosia.sw.quantize.ranges import Clip
from celosia.sw.quantize.units.find_units import find_units
from celosia.sw.quantize.units.placement import place
from celosia.sw.quantize.weight_types import INT8_WEIGHTS, WeightTypes

__all__ = ["prepare_encoder", "published_profiles"]

_SIZE: Final = "tokens"
_TOKENS: Final = 16
"""Tokens of the text that it is compiled for, if that is not given."""


def published_profiles(
    profiles: Sequence[Mapping[str, int]],
    clip: Clip,
    tell: Progress,
    weights: WeightTypes = INT8_WEIGHTS,
) -> tuple[Prepared, ...]:
    """The published encoder for a text of each of some sizes, ``tokens``, with these `weights`.

    Raises `InputError` for other sizes, `EnvironmentProblem` where the model is missing.
    """
    for sizes in profiles:
        for name in sizes.keys() - {_SIZE}:
            raise InputError(f"--dim {name}={sizes[name]}: the published model has {_SIZE} alone")
    model = published_model(tell, clip, weights)
    most = 0 if model.tables is None else len(model.tables.positions)
    found = []
    for sizes in profiles:
        tokens = sizes.get(_SIZE, _TOKENS)
        if not 1 <= tokens <= most:
            raise InputError(f"--dim {_SIZE}={tokens}: is not in 1..{most}")
        found.append(prepare_encoder(model, tokens))
    return tuple(found)


def prepare_encoder(model: QuantizedEncoder, tokens: int) -> Prepared:
    """An encoder for a text of so many tokens: its input is the sum of their embeddings."""
    calibrated = calibrated_encoder(model, tokens)
    (graph,) = calibrated.graphs
    recognized = Recognized(graph=graph, refusals=(), absorbed={})
    return Prepared(
        model=instantiate(graph, model.formats),
        placement=place(graph, recognized, find_units(graph)),
        notes=model.formats.notes,
        sizes={_SIZE: tokens},
        calibrated=calibrated,
    )
