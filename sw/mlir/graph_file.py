"""Graphs as files: a text, and the values of constants in an .npz of the same name beside it."""

from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile

import numpy as np

from celosia.sw.ir.graph import Graph
from celosia.sw.mlir.print_graph import print_graph
from celosia.sw.mlir.read_graph import parse_graph

__all__ = ["load_graph", "save_graph"]

_RESOURCE: Final = "values/"
"""What names of constants begin with in an .npz: any name may follow."""


def save_graph(graph: Graph, path: Path) -> None:
    """Write the text of `graph` to `path`, and the constants to an .npz of the same name."""
    arrays: dict[str, Any] = {_RESOURCE + name: value for name, value in graph.constants.items()}
    with path.with_suffix(".npz").open("wb") as file:
        np.savez(file, **arrays)
    path.write_text(print_graph(graph))


def load_graph(path: Path) -> Graph:
    """What `save_graph` has written to `path`; raises `ValueError` that names the file."""
    beside = path.with_suffix(".npz")
    try:
        with np.load(beside, allow_pickle=False) as arrays:
            constants = {name.removeprefix(_RESOURCE): arrays[name] for name in arrays}
    except (ValueError, OSError, EOFError, BadZipFile) as error:
        raise ValueError(f"{beside}: {error}") from None
    try:
        return parse_graph(path.read_text(), constants)
    except (ValueError, OSError) as error:
        raise ValueError(f"{path}: {error}") from None
