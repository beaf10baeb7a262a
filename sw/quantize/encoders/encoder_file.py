"""Quantized encoders as saved models, whose graph becomes that of texts of any lengths."""

from pathlib import Path
from typing import BinaryIO

from celosia.sw.frontend.nn.operators.operator import GraphError, expect
from celosia.sw.quantize.encoders.encoder import QuantizedEncoder, Tables
from celosia.sw.quantize.encoders.float_graph import (
    encoder_float_graph,
    encoder_outline,
    read_outline,
)
from celosia.sw.quantize.graphs.files.model_file import Calibrated, load_model, save_model
from celosia.sw.quantize.graphs.files.saved_file import PlanFileError

__all__ = ["calibrated_encoder", "load_encoder", "save_encoder"]


def calibrated_encoder(model: QuantizedEncoder, tokens: int = 1) -> Calibrated:
    """An encoder as any other model, for a text of so many tokens."""
    outline = encoder_outline(model.shape, model.norm, model.norms)
    return Calibrated(
        graphs=(encoder_float_graph(outline, [tokens]),),
        formats=model.formats,
        tables={} if model.tables is None else dict(vars(model.tables)),
    )


def save_encoder(model: QuantizedEncoder, file: BinaryIO) -> None:
    """Write `model` as `save_model` does."""
    save_model(calibrated_encoder(model), {}, file)


def load_encoder(path: Path) -> QuantizedEncoder:
    """The encoder in the file of a model.

    Raises `PlanFileError` that names the file for what `load_model` refuses, and for a model that
    is no encoder of texts.
    """
    found = load_model(path).calibrated
    try:
        weights = read_outline(found.graphs[0])
        tables = None
        if found.tables:
            names = ", ".join(found.tables)
            expect(names == "words, positions", f"its tables are {names}, not words, positions")
            tables = Tables(**found.tables)
            for name, table in vars(tables).items():
                good = table.ndim == 2 and table.shape[1] == weights.shape.width and len(table)
                expect(
                    bool(good) and table.dtype == "int16",
                    f"{name}: it is {table.dtype} of {table.shape}, not int16 of "
                    f"(rows, {weights.shape.width})",
                )
        return QuantizedEncoder(
            shape=weights.shape,
            norm=weights.norm,
            norms=tuple((layer.attention_norm, layer.norm) for layer in weights.layers),
            formats=found.formats,
            tables=tables,
        )
    except GraphError as error:
        raise PlanFileError(f"{path}: {error}") from None
