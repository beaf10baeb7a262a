"""Quantized models, kept in the cache under the hash of all that they are made from."""

from collections.abc import Callable, Iterable
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np

from celosia.isa.encoding import WeightType
from celosia.sim.support.cache import cached, digest
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sw.models.cases import random_quantized_encoder
from celosia.sw.quantize.encoders.encoder import Progress as Steps
from celosia.sw.quantize.encoders.encoder import QuantizedEncoder
from celosia.sw.quantize.encoders.encoder_file import load_encoder, save_encoder
from celosia.sw.quantize.graphs.files.saved_file import PlanFileError
from celosia.sw.quantize.ranges import Clip
from celosia.sw.quantize.weight_types import INT8_WEIGHTS, WeightTypes
from celosia.sw.reference.encoder import EncoderShape

__all__ = ["model_of_file", "published_model", "random_model"]

_CODE = (
    "celosia.sw.quantize",
    "celosia.sw.frontend",
    "celosia.sw.ir",
    "celosia.sw.reference",
    "celosia.isa.numerics",
    "celosia.isa.functions",
)
"""Packages whose code decides what a quantized model is."""


def published_model(
    tell: Progress, clip: Clip = "error", weights: WeightTypes = INT8_WEIGHTS
) -> QuantizedEncoder:
    """The published model, by a criterion of clipping, with weights of these types.

    Raises `EnvironmentProblem` where it, or the cache, is missing.
    """
    # Loaded when it is asked for: no other model needs the packages that read this one.
    sentences = import_module("celosia.sw.models.sentences")
    published = import_module("celosia.sw.reference.published")
    try:
        published.check_files()
        parts = [sentences.model_key(), clip]
        parts += [] if weights.inner is WeightType.INT8 else [repr(weights)]
        make = partial(sentences.quantize_published, clip=clip, types=weights)
        return _cached(parts, make, tell)
    except published.MissingModelError as error:
        raise EnvironmentProblem(str(error)) from None


def random_model(shape: EncoderShape, seed: int, tell: Progress) -> QuantizedEncoder:
    """The encoder of this shape and seed, quantized on random embeddings."""

    def make(steps: Steps) -> QuantizedEncoder:
        return random_quantized_encoder(shape, seed, steps)

    return _cached([repr(shape), str(seed)], make, tell)


def model_of_file(path: Path) -> QuantizedEncoder:
    """The model in a file.  Raises `InputError` for what is none, or not of this version."""
    try:
        return load_encoder(path)
    except PlanFileError as error:
        raise InputError(f"--model {error}") from None


def _cached(
    parts: Iterable[str], make: Callable[[Steps], QuantizedEncoder], tell: Progress
) -> QuantizedEncoder:
    def steps_done(done: int, total: int) -> None:
        tell("quantizing the model", done / total)

    def save(work: Path) -> Path:
        tell("quantizing the model", None)
        path = work / "model.plan"
        with path.open("wb") as file:
            save_encoder(make(steps_done), file)
        return path

    return load_encoder(cached(f"quantized/{digest([*parts, *_code()])}.plan", save))


def _code() -> Iterable[str | bytes]:
    """The sources that quantize, and the version of what computes for them."""
    yield np.__version__
    yield Path(import_module("celosia.sw.models.cases").__file__ or "").read_bytes()
    for package in _CODE:
        (folder,) = import_module(package).__path__
        for path in sorted(Path(folder).rglob("*.py")):
            yield path.name
            yield path.read_bytes()
