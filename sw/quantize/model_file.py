"""The integer model file: safetensors with a version, as ``docs/model-format.md`` lays it out."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Final

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from celosia.sw.quantize.model import IntegerEncoder, ModelError, verify
from celosia.sw.reference.encoder import EncoderShape

__all__ = ["FORMAT", "VERSION", "load_model", "save_model"]

FORMAT: Final = "celosia-integer-encoder"
VERSION: Final = 1

_ENTRY: Final = "celosia"
"""The one entry of the metadata: safetensors writes several in no fixed order."""


def save_model(model: IntegerEncoder, path: Path) -> Path:
    """Write `model`, which must be a whole one; returns `path`."""
    verify(model)
    header = {"format": FORMAT, "version": VERSION, "shape": asdict(model.shape)}
    arrays = {name: np.asarray(array, order="C") for name, array in model.tensors.items()}
    save_file(arrays, path, metadata={_ENTRY: json.dumps(header)})
    return path


def load_model(path: Path) -> IntegerEncoder:
    """The model in the file at `path`.

    Raises `ModelError` that names the file and what is wrong with it: not a model, another
    version, a tensor that is missing or has another type or shape, a number that is not finite.
    """
    try:
        with safe_open(path, framework="np") as file:
            shape = _shape(file.metadata() or {})
            names = file.keys()
            tensors = {name: file.get_tensor(name) for name in names}
            return verify(IntegerEncoder(shape, tensors))
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None
    except SafetensorError as error:
        raise ModelError(f"{path}: not a safetensors file: {error}") from None
    except OSError as error:
        raise ModelError(f"{path}: {error.strerror or error}") from None


def _shape(metadata: Mapping[str, str]) -> EncoderShape:
    try:
        header = json.loads(metadata[_ENTRY])
        found, version = header["format"], header["version"]
    except (KeyError, TypeError, ValueError, RecursionError):
        raise ModelError(
            f"its metadata have no entry {_ENTRY} with a format and version: this is no model of "
            "integers but perhaps one of float weights; docs/model-format.md says how to convert it"
        ) from None
    if found != FORMAT:
        raise ModelError(f"format: {found!r} is not {FORMAT!r}")
    if version != VERSION:
        raise ModelError(
            f"version: {version} is not {VERSION}; quantize the model again with this release"
        )
    try:
        return EncoderShape(**header["shape"])
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(f"shape: {header.get('shape')!r} is not an encoder's: {error}") from None
