"""Embeddings in int16, whose sums are the integer input of an encoder."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.numerics import nearest
from celosia.sw.quantize.model import IntegerEncoder
from celosia.sw.quantize.ranges import largest
from celosia.sw.reference.embedding import Embeddings

__all__ = ["embed", "quantize_tables", "table_step"]

_LARGEST: Final = 32766
"""One less than int16 holds: both terms of a sum may be rounded up."""


def table_step(embeddings: Embeddings) -> float:
    """The step with which no sum of a word and a position exceeds int16."""
    return ((largest(embeddings.words) + largest(embeddings.positions)) or 1.0) / _LARGEST


def quantize_tables(embeddings: Embeddings, step: float) -> dict[str, NDArray[Any]]:
    """The tables as arrays of a model."""
    factor = np.float32(1 / step)
    return {
        "embedding.words": nearest(embeddings.words * factor, np.int16, "embedding.words"),
        "embedding.positions": nearest(
            embeddings.positions * factor, np.int16, "embedding.positions"
        ),
    }


def embed(model: IntegerEncoder, texts: Sequence[Sequence[int]]) -> NDArray[np.int16]:
    """The encoder's input for texts of tokens, below each other.

    Raises `ValueError` for a model without tables, no text, or a text that is empty, longer than
    the table of positions or with a token that is no word.
    """
    if model.vocabulary is None:
        raise ValueError("the model has no embeddings")
    if not texts:
        raise ValueError("no text")
    words, positions = model.tensors["embedding.words"], model.tensors["embedding.positions"]
    for index, tokens in enumerate(texts):
        if not 1 <= len(tokens) <= len(positions):
            raise ValueError(f"text {index}: {len(tokens)} tokens are not in 1..{len(positions)}")
        for token in tokens:
            if not 0 <= token < len(words):
                raise ValueError(f"text {index}: token {token} is not in 0..{len(words) - 1}")
    return np.concatenate([words[list(tokens)] + positions[: len(tokens)] for tokens in texts])
