"""Ratios of perplexities with intervals, and how alike two rankings are."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["Interval", "kendall", "kendall_interval", "perplexity_ratio"]

Numbers = Sequence[float] | NDArray[Any]

_SAMPLES: Final = 2000
_PERCENT: Final = (2.5, 97.5)


@dataclass(frozen=True)
class Interval:
    """A number, and where it lies in 95 % of samples drawn anew."""

    value: float
    low: float
    high: float


def perplexity_ratio(
    ours: NDArray[Any], theirs: NDArray[Any], tokens: Sequence[int] | NDArray[Any], seed: int = 0
) -> Interval:
    """The perplexity of a model over another's: the mean of seeds, paired by document.

    `ours` and `theirs` are (seeds, documents) sums of logarithms of probabilities of so many
    `tokens` in each document.  Samples draw documents, and the seeds of both.
    """
    counts = np.asarray(tokens, float)
    random = np.random.default_rng(seed)
    found = np.empty(_SAMPLES)
    for index in range(_SAMPLES):
        documents = random.integers(len(counts), size=len(counts))
        one = ours[random.integers(len(ours), size=len(ours))].mean(axis=0)
        other = theirs[random.integers(len(theirs), size=len(theirs))].mean(axis=0)
        found[index] = _ratio((one - other)[documents], counts[documents])
    low, high = np.percentile(found, _PERCENT)
    return Interval(_ratio(ours.mean(axis=0) - theirs.mean(axis=0), counts), low, high)


def _ratio(differences: NDArray[Any], counts: NDArray[Any]) -> float:
    return float(np.exp(-differences.sum() / counts.sum()))


def kendall(ours: Numbers, theirs: Numbers) -> float:
    """Kendall's tau-b of two rankings; 0 where one of them has only ties."""
    x, y = np.asarray(ours, float), np.asarray(theirs, float)
    upper = np.triu_indices(len(x), 1)
    one = np.sign(x[:, None] - x[None, :])[upper]
    other = np.sign(y[:, None] - y[None, :])[upper]
    norm = np.sqrt(np.abs(one).sum() * np.abs(other).sum())
    return float((one * other).sum() / norm) if norm else 0.0


def kendall_interval(ours: Numbers, theirs: Numbers, seed: int = 0) -> Interval:
    """The same with its interval: samples draw the models."""
    random = np.random.default_rng(seed)
    x, y = np.asarray(ours, float), np.asarray(theirs, float)
    draws = [random.integers(len(x), size=len(x)) for _ in range(_SAMPLES)]
    low, high = np.percentile([kendall(x[drawn], y[drawn]) for drawn in draws], _PERCENT)
    return Interval(kendall(x, y), low, high)
