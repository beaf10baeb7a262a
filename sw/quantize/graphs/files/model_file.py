"""Quantized models as files: formats once, and a float graph for each of some sizes.

Integer graphs are made of them when they are read, as they were made behind calibration.  Reading
needs no onnx.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np

from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.operators.operator import Array, expect
from celosia.sw.quantize.graphs.files.formats_document import formats_document, read_formats
from celosia.sw.quantize.graphs.files.graph_document import graph_document, read_graph
from celosia.sw.quantize.graphs.files.saved_file import PlanFileError, SavedFile, read_saved
from celosia.sw.quantize.graphs.formats import Formats
from celosia.sw.quantize.graphs.quantized import QuantizedGraph, instantiate

__all__ = ["FORMAT", "Calibrated", "LoadedModel", "load_model", "save_model"]

FORMAT: Final = "celosia.model/4"
"""What the file calls itself: another number is another layout."""
_MOST_GRAPHS: Final = 64


@dataclass(frozen=True, eq=False, kw_only=True)
class Calibrated:
    """A model behind calibration."""

    graphs: tuple[FloatGraph, ...]
    """Graphs behind `recognize`, one for each of some sizes; those of a file lack weights."""
    formats: Formats
    """The formats of all graphs."""
    tables: Mapping[str, Array] = field(default_factory=dict)
    """What its inputs are looked up in, by name."""


@dataclass(frozen=True, eq=False, kw_only=True)
class LoadedModel:
    """What a file has."""

    calibrated: Calibrated
    models: tuple[QuantizedGraph, ...]
    """The integers of each graph."""
    setting: Mapping[str, Any]
    """The JSON values that it was saved with."""
    members: Mapping[str, bytes]
    """All that the file has, by name: what it was saved with, among others."""


def save_model(
    model: Calibrated,
    setting: Mapping[str, Any],
    file: BinaryIO,
    members: Mapping[str, bytes] | None = None,
) -> None:
    """Write `model`, a `setting` of JSON values, and `members`, which are packed.

    The same values make the same bytes.  The names of `members` do not begin with `arrays/`.
    """
    saved = SavedFile(packed=dict(members or {}))
    document = {
        "format": FORMAT,
        "setting": dict(setting),
        "formats": formats_document(model.formats, saved),
        "graphs": [graph_document(each, model.formats, saved) for each in model.graphs],
        "tables": {name: saved.store(table) for name, table in model.tables.items()},
    }
    saved.write(document, file)


def load_model(path: Path) -> LoadedModel:
    """The model in a file.

    Raises `PlanFileError` that names the file for one that is no saved model, is not whole, or has
    another format: before anything but its first part is in memory; and for numbers of which no
    integer graph can be made.
    """
    with read_saved(path, FORMAT) as (saved, document):
        formats = read_formats(document["formats"], saved)
        count = len(document["graphs"])
        expect(0 < count <= _MOST_GRAPHS, f"graphs: there are {count}")
        graphs = tuple(read_graph(each, formats, saved) for each in document["graphs"])
        tables = {name: saved.array(place) for name, place in document["tables"].items()}
        try:
            with np.errstate(over="raise", invalid="raise", divide="raise"):
                models = tuple(instantiate(graph, formats) for graph in graphs)
        except ArithmeticError as error:
            raise PlanFileError(f"{path}: a scale is no float32: {error}") from None
        return LoadedModel(
            calibrated=Calibrated(graphs=graphs, formats=formats, tables=tables),
            models=models,
            setting=document["setting"],
            members=saved.members | saved.packed,
        )
