"""Graphs as files: a text, and the values of constants in an .npz of the same name beside it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

__all__ = ["load_constants", "save_text"]

_RESOURCE: Final = "values/"
"""What names of constants begin with in an .npz: any name may follow."""


def save_text(text: str, constants: Mapping[str, NDArray[Any]], path: Path) -> None:
    """Write the text of a graph of any level to `path`, and its constants beside it."""
    arrays: dict[str, Any] = {_RESOURCE + name: value for name, value in constants.items()}
    with path.with_suffix(".npz").open("wb") as file:
        np.savez(file, **arrays)
    path.write_text(text)


def load_constants(path: Path) -> dict[str, NDArray[Any]]:
    """The constants beside the text `path`, by name; raises `ValueError` that names their file."""
    beside = path.with_suffix(".npz")
    try:
        with np.load(beside, allow_pickle=False) as arrays:
            return {name.removeprefix(_RESOURCE): arrays[name] for name in arrays}
    except (ValueError, OSError, EOFError, BadZipFile) as error:
        raise ValueError(f"{beside}: {error}") from None
