"""What the host does around an encoder: the lookup of embeddings, the mean, the normalization."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from celosia.sw.reference.encoder import Floats, segments

__all__ = ["Embeddings", "pool"]

Tokens = Sequence[int]


@dataclass(frozen=True, eq=False)
class Embeddings:
    """Float32 tables; the embedding of a token type belongs to the positions."""

    words: Floats
    positions: Floats

    def sums(self, texts: Sequence[Tokens]) -> Floats:
        """The sum of each token's two embeddings, all texts below each other."""
        return np.concatenate(list(self._sums(texts)))

    def _sums(self, texts: Sequence[Tokens]) -> Iterator[Floats]:
        for tokens in texts:
            yield self.words[list(tokens)] + self.positions[: len(tokens)]


def pool(x: Floats, lengths: Sequence[int]) -> Floats:
    """The mean of each text's tokens, with a Euclidean norm of 1: a row for each text."""
    means = np.stack([x[rows].mean(axis=0) for rows in segments(lengths)])
    return means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), np.float32(1e-12))
