"""What a training depends on, beside its text."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from celosia.lab.training.text.corpora import Corpus
from celosia.sw.reference.language.errors import LanguageError
from celosia.sw.reference.language.shape import DOCS, SMALL, LlamaShape

__all__ = ["RECIPES", "Recipe"]


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """The numbers of a training.  Raises `LanguageError` for steps that are too few."""

    shape: LlamaShape = SMALL
    steps: int = 850
    batch: int = 8
    """Windows of `shape.context` tokens in a step."""
    rate: float = 0.04
    """The learning rate of matrices (Muon) at its height."""
    adam_rate: float = 0.01
    """The learning rate of the embedding and of gammas (Adam) at its height."""
    warmup: int = 20
    """Steps in which the rates rise."""
    decay: float = 0.4
    """The share of the steps, at the end, in which the rates fall to 0."""
    dropout: float = 0.1
    weight_decay: float = 0.1
    seed: int = 0

    def __post_init__(self):
        if self.steps <= self.warmup:
            raise LanguageError(
                f"steps: {self.steps} are not more than the {self.warmup} of warm-up"
            )

    @property
    def falls_from(self) -> int:
        """The step from which on the rates fall."""
        return max(round(self.steps * (1 - self.decay)), self.warmup)


RECIPES: Final[Mapping[Corpus, Recipe]] = {
    "docstrings": Recipe(),
    "manual": Recipe(shape=DOCS, steps=8_000, batch=64, rate=0.02, adam_rate=0.005, dropout=0.2),
}
"""How the models that come with the project are trained, by their text."""
