"""Encoders of any shape with seeded random weights, for what does not need a trained one.

Weights have the spread of a freshly initialized BERT; gamma and beta vary about 1 and 0.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from celosia.sw.reference.encoder import (
    EncoderShape,
    EncoderWeights,
    Floats,
    LayerWeights,
    Linear,
    Norm,
)

__all__ = ["random_embeddings", "random_encoder"]

_SPREAD: Final = 0.1
"""Standard deviation of gamma, beta and biases."""


def random_encoder(shape: EncoderShape, seed: int) -> EncoderWeights:
    """The encoder of this shape and seed."""
    source = _Source(np.random.default_rng(seed))
    norm = source.norm(shape.width)
    layers = tuple(source.layer(shape) for _ in range(shape.layers))
    return EncoderWeights(shape=shape, norm=norm, layers=layers)


def random_embeddings(shape: EncoderShape, lengths: Sequence[int], seed: int) -> Floats:
    """Sums of embeddings for texts of `lengths` tokens."""
    return _Source(np.random.default_rng(seed)).normal((sum(lengths), shape.width), 1)


class _Source:
    """Random parts of an encoder, one after the other."""

    def __init__(self, random: np.random.Generator):
        self.random = random

    def normal(self, shape: tuple[int, ...], spread: float) -> Floats:
        return self.random.standard_normal(shape, np.float32) * np.float32(spread)

    def linear(self, inputs: int, outputs: int) -> Linear:
        weights = self.normal((inputs, outputs), float(1 / np.sqrt(inputs)))
        return Linear(weights, self.normal((outputs,), _SPREAD))

    def norm(self, width: int) -> Norm:
        return Norm(1 + self.normal((width,), _SPREAD), self.normal((width,), _SPREAD))

    def layer(self, shape: EncoderShape) -> LayerWeights:
        width, hidden = shape.width, shape.hidden
        return LayerWeights(
            query=self.linear(width, width),
            key=self.linear(width, width),
            value=self.linear(width, width),
            output=self.linear(width, width),
            attention_norm=self.norm(width),
            up=self.linear(width, hidden),
            down=self.linear(hidden, width),
            norm=self.norm(width),
        )
