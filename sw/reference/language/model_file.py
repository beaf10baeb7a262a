"""The file of a small language model: safetensors, float16, with its shape and where it is from."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from celosia.isa.foreign_file import ForeignFileError, check_foreign, parse_json
from celosia.sw.reference.encoder import Floats
from celosia.sw.reference.language.errors import LanguageError
from celosia.sw.reference.language.shape import LlamaShape
from celosia.sw.reference.language.shape_document import read_shape, shape_document
from celosia.sw.reference.language.tokenizer import TextTokenizer
from celosia.sw.reference.language.weights import LlamaWeights

__all__ = [
    "SHIPPED",
    "TOKENIZER",
    "WEIGHTS",
    "LanguageModel",
    "LanguageModelError",
    "load_language_model",
    "model_folder",
    "save_weights",
    "shipped_folder",
]

FORMAT: Final = "celosia-llama"
ALIKE, LISTED = 1, 2
"""The versions: layers have one number for all of them, or stand in a list."""

WEIGHTS: Final = "model.safetensors"
TOKENIZER: Final = "tokenizer.json"

SHIPPED: Final = {"small": ".", "docs": "docs"}
"""The models that come with the project, and their places in its folder of data."""

_ENTRY: Final = "celosia"
"""The one entry of the metadata: safetensors writes several in no fixed order."""
_MOST_BYTES: Final = 256 << 20
"""The largest file of weights that is opened."""


class LanguageModelError(LanguageError):
    """A file that is no model of this form, or a folder without one."""


@dataclass(frozen=True, eq=False)
class LanguageModel:
    """Weights, their tokenizer, and how they were made."""

    weights: LlamaWeights
    tokenizer: TextTokenizer
    origin: Mapping[str, Any] = field(default_factory=dict)
    """The training's recipe, and the interpreter and a hash of its text."""


def shipped_folder(name: str = "small") -> Path:
    """The folder of one of the `SHIPPED` models."""
    return Path(str(files("celosia.sw.reference.language") / "data")) / SHIPPED[name]


def model_folder(text: str) -> Path:
    """The folder that a user means: the name of a `SHIPPED` model, or a path."""
    return shipped_folder(text) if text in SHIPPED else Path(text)


def save_weights(
    path: Path, shape: LlamaShape, tensors: Mapping[str, Floats], origin: Mapping[str, Any]
) -> None:
    """Write `tensors` as float16.

    Raises `ValueError` for tensors that are not those of `shape`, or that float16 does not have.
    """
    with np.errstate(over="ignore"):
        halves = {name: np.ascontiguousarray(x, np.float16) for name, x in tensors.items()}
    LlamaWeights(shape, {name: x.astype(np.float32) for name, x in halves.items()})
    document = shape_document(shape)
    header = {
        "format": FORMAT,
        "version": LISTED if isinstance(document["layers"], list) else ALIKE,
        "shape": document,
        "origin": dict(origin),
    }
    save_file(halves, path, metadata={_ENTRY: json.dumps(header)})


def load_language_model(folder: Path | None = None) -> LanguageModel:
    """The model in `folder`, or the small one that comes with the project.

    Raises `LanguageModelError` for a file that is missing, no model, of another version, or whose
    tensors are not those of its shape, `TokenizerError` for the tokenizer's file.
    """
    folder = folder or shipped_folder()
    tokenizer, path = TextTokenizer(folder / TOKENIZER), folder / WEIGHTS
    try:
        check_foreign(path, _MOST_BYTES)
        with safe_open(path, framework="np") as file:
            header = _header(file.metadata() or {})
            shape = read_shape(header["shape"])
            names = list(file.keys())
            weights = LlamaWeights(shape, {name: _tensor(file, name) for name in names})
    except ForeignFileError as error:
        raise LanguageModelError(str(error)) from None
    except SafetensorError as error:
        raise LanguageModelError(f"{path}: not a safetensors file: {error}") from None
    except (ValueError, TypeError) as error:
        raise LanguageModelError(f"{path}: {error}") from None
    if tokenizer.size != shape.vocabulary:
        raise LanguageModelError(
            f"{folder}: the tokenizer has {tokenizer.size} tokens, the model {shape.vocabulary}"
        )
    return LanguageModel(weights, tokenizer, header["origin"])


def _tensor(file: Any, name: str) -> Floats:
    """A tensor of the file in float32, its size in bytes checked by the library."""
    tensor = file.get_slice(name)
    if tensor.get_dtype() != "F16":
        raise ValueError(f"tensor {name}: type {tensor.get_dtype()} is not F16")
    return file.get_tensor(name).astype(np.float32)


def _header(metadata: Mapping[str, str]) -> dict[str, Any]:
    """What the metadata say, if they are those of a model of this version."""
    try:
        header = parse_json(metadata[_ENTRY])
        found, version, origin = header["format"], header["version"], header["origin"]
        _ = header["shape"]
    except (KeyError, TypeError, ValueError):
        raise ValueError("not a small language model: its metadata are missing") from None
    if found != FORMAT or version not in {ALIKE, LISTED}:
        raise ValueError(
            f"format {found!r} version {version!r} is not {FORMAT!r} {ALIKE} or {LISTED}"
        )
    if not isinstance(origin, dict):
        raise ValueError(f"origin {origin!r}: is no object")
    return header
