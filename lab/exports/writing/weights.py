"""Seeded weights with the statistics of trained transformers, by name.

A weight depends on the seed and on its name alone, so that one model in two forms has the same
weights, and the same results.
"""

from typing import Final
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

__all__ = ["LARGE", "LARGE_SHARE", "SCORE_SPREAD", "Floats", "Weights"]

Floats = NDArray[np.float32]

LARGE_SHARE: Final = 0.005
"""The share of the residual stream's channels that are large; one at least."""
LARGE: Final = 16
"""How many times larger than the others they are."""
GAMMA_SPREAD: Final = 0.25
"""Standard deviation of the logarithm of a norm's gamma."""
SCORE_SPREAD: Final = 1.5
"""Standard deviation of attention scores.

Where scores are normal, the softmax over n keys has an entropy of ``log(n) - 1.5**2 / 2``: 77 % of
the greatest for 128 keys.  Large channels make some heads sharper.
"""
CONTEXT_POWER: Final = 0.2
"""Mean square of the results of attention, about: it averages values of mean square 1."""
HIDDEN_POWER: Final = 0.4
"""Mean square behind the activation, about."""
BRANCH_SPREAD: Final = 0.5
"""What attention and feed-forward network add to the residual stream, beside embeddings of 1."""
BIAS_SPREAD: Final = 0.1
WORD_SPREAD: Final = 0.15
"""Standard deviation of embeddings that are the head's weights, too, so that logits are a few."""


class Weights:
    """The weights of a model `width` wide.  Matrices are (inputs, outputs)."""

    def __init__(self, seed: int, width: int):
        self._seed = seed
        self.width = width
        count = max(1, round(LARGE_SHARE * width))
        self.large = np.sort(self._random("large channels").choice(width, count, replace=False))
        """The residual stream's large channels."""
        self._profile = np.ones(width, np.float32)
        self._profile[self.large] = LARGE

    def normal(self, name: str, shape: tuple[int, ...], spread: float) -> Floats:
        """Normal weights of mean 0."""
        return self._random(name).standard_normal(shape, np.float32) * np.float32(spread)

    def embedding(self, name: str, rows: int, spread: float = 1) -> Floats:
        """A table whose rows are added to the residual stream."""
        return self.normal(name, (rows, self.width), spread) * self._profile

    def words(self, name: str, rows: int) -> Floats:
        """A table of words that is the head's matrix, too: small, and without large channels."""
        return self.normal(name, (rows, self.width), WORD_SPREAD)

    def gamma(self, name: str, size: int | None = None) -> Floats:
        """A norm's factors, log-normal about 1."""
        return np.exp(self.normal(name, (size or self.width,), GAMMA_SPREAD))

    def bias(self, name: str, size: int | None = None) -> Floats:
        """A bias, or a norm's beta."""
        return self.normal(name, (size or self.width,), BIAS_SPREAD)

    def reading(self, name: str, outputs: int, spread: float = 1) -> Floats:
        """A matrix behind a norm, whose results have this standard deviation."""
        power = self.width * np.exp(2 * GAMMA_SPREAD**2)
        return self.normal(name, (self.width, outputs), float(spread / np.sqrt(power)))

    def scoring(self, name: str, outputs: int, scale: float) -> Floats:
        """A matrix that makes queries or keys, whose products are multiplied by `scale`.

        `scale` is as if a head were one element wide: 1 for the usual 1 / sqrt(head width).
        """
        return self.reading(name, outputs, float(np.sqrt(SCORE_SPREAD / scale)))

    def joining(self, name: str, inputs: int, power: float = HIDDEN_POWER) -> Floats:
        """A matrix whose results are added to the residual stream; `power` is that of inputs."""
        spread = BRANCH_SPREAD / np.sqrt(inputs * power)
        return self.normal(name, (inputs, self.width), float(spread)) * self._profile

    def joining_bias(self, name: str) -> Floats:
        """A bias that is added to the residual stream."""
        return self.bias(name) * self._profile

    def _random(self, name: str) -> np.random.Generator:
        return np.random.default_rng([self._seed, crc32(name.encode())])
