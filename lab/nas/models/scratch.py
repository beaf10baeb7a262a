"""Models that are trained from scratch, each for as many tokens as the others (JAX)."""

# pyright: reportMissingImports=false
# JAX is an extra, which most do not install.

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.lab.nas.models.supernet import likelihoods
from celosia.lab.nas.models.texts import Texts, sums_of_documents
from celosia.lab.training.recipe import Recipe
from celosia.lab.training.train import Told, train

__all__ = ["Learned", "learn"]


@dataclass(frozen=True, eq=False)
class Learned:
    """A model that was trained from scratch."""

    tensors: Mapping[str, NDArray[np.float32]]
    validation: float
    """Its perplexity of the text that searches score by."""
    sums: NDArray[np.float64]
    """For each held-out document, the sum of the logarithms of its tokens' probabilities."""


def learn(
    recipe: Recipe,
    texts: Texts,
    checkpoint: Path | None = None,
    tell: Told = lambda steps, loss: None,
) -> Learned:
    """Train a model; what is in `checkpoint` is gone on with.  Raises what `train` raises."""
    tensors = train(recipe, texts.learned, checkpoint=checkpoint, tell=tell)
    scored = _likelihoods(tensors, recipe, texts.validation)
    sums = sums_of_documents(_likelihoods(tensors, recipe, texts.held_out), texts)
    return Learned(tensors, float(np.exp(-scored.mean())), sums)


def _likelihoods(
    tensors: Mapping[str, Any], recipe: Recipe, tokens: NDArray[Any]
) -> NDArray[np.float32]:
    return likelihoods(tensors, recipe.shape, recipe.shape, tokens)
