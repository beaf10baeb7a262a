"""What the commands of the small language model have in common."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from celosia.sim.support.problems import InputError
from celosia.sw.decoding.decoder import Decoder, quantize_decoder
from celosia.sw.models.decoder_graph import llama_float_graph
from celosia.sw.quantize.weight_types import INT8_WEIGHTS, WeightTypes
from celosia.sw.reference.language.calibration import load_calibration
from celosia.sw.reference.language.errors import LanguageError
from celosia.sw.reference.language.model_file import LanguageModel, model_folder

__all__ = ["ModelOption", "language_errors", "quantized_model"]

ModelOption = Annotated[
    Path | None,
    typer.Option(
        "--model",
        parser=model_folder,
        metavar="NAME|DIRECTORY",
        help="small (the default) or docs, which come with the project, or what train wrote.",
    ),
]


@contextmanager
def language_errors() -> Iterator[None]:
    """What the model refuses, as what the user gave."""
    try:
        yield
    except LanguageError as error:
        raise InputError(str(error)) from None


def quantized_model(
    model: LanguageModel, folder: Path | None, weights: WeightTypes = INT8_WEIGHTS
) -> Decoder:
    """`model` of `folder` in integers, whose ranges are those of the windows beside it."""
    shape = model.weights.shape
    windows = load_calibration(folder, shape.vocabulary, shape.context)
    graph = llama_float_graph(model.weights, shape.context)
    return quantize_decoder(graph, windows, weights=weights)
