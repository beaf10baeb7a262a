"""The integer model file: safetensors with a version, as ``docs/model-format.md`` lays it out."""

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, Final

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from celosia.isa.foreign_file import ForeignFileError, check_foreign, parse_json
from celosia.sw.quantize.model import IntegerEncoder, ModelError, Slot, verify, verify_slots
from celosia.sw.reference.encoder import EncoderShape

__all__ = ["FORMAT", "VERSION", "load_model", "save_model"]

FORMAT: Final = "celosia-integer-encoder"
VERSION: Final = 2

_MOST_BYTES: Final = 8 << 30
"""The largest file that is opened: sixteen times the largest published BERT in int8 and int16."""

_TYPES: Final = {"I8": "int8", "I16": "int16", "I32": "int32", "F32": "float32"}
"""NumPy's names of the types that a model may have, of those that safetensors has."""

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
    The header is checked before a tensor is read.
    """
    try:
        check_foreign(path, _MOST_BYTES)
        with safe_open(path, framework="np") as file:
            names = file.keys()
            slots = {name: _slot(name, file.get_slice(name)) for name in names}
            shape = _shape(file.metadata() or {}, len(slots))
            verify_slots(shape, slots)
            return verify(IntegerEncoder(shape, {name: file.get_tensor(name) for name in slots}))
    except ForeignFileError as error:
        raise ModelError(str(error)) from None
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None
    except SafetensorError as error:
        raise ModelError(f"{path}: not a safetensors file: {error}") from None
    except OSError as error:
        raise ModelError(f"{path}: {error.strerror or error}") from None


def _slot(name: str, tensor: Any) -> Slot:
    """Type and shape of a tensor, as the header of its file has them."""
    kind = tensor.get_dtype()
    if kind not in _TYPES:
        raise ModelError(f"tensor {name}: type {kind} is none of {', '.join(_TYPES)}")
    return Slot(_TYPES[kind], tuple(tensor.get_shape()))


def _shape(metadata: Mapping[str, str], tensors: int) -> EncoderShape:
    """The shape that `metadata` promise of a file of so many tensors."""
    try:
        header = parse_json(metadata[_ENTRY])
        found, version = header["format"], header["version"]
    except (KeyError, TypeError, ValueError):
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
    sizes = header.get("shape")
    names = [field.name for field in fields(EncoderShape)]
    if not isinstance(sizes, dict) or sorted(sizes) != sorted(names):
        raise ModelError(f"shape: {sizes!r} has not exactly the sizes {', '.join(names)}")
    for name, size in sizes.items():
        if not isinstance(size, int) or isinstance(size, bool):
            raise ModelError(f"shape: {name}: {size!r} is not a whole number")
    if sizes["layers"] > tensors:
        raise ModelError(f"shape: layers: {sizes['layers']}, but the file has {tensors} tensors")
    try:
        return EncoderShape(**sizes)
    except ValueError as error:
        raise ModelError(f"shape: {error}") from None
