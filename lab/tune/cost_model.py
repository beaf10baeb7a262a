"""What is learned from runs on the RTL: by how much the timeline is wrong about a plan.

AutoTVM (Chen et al., NeurIPS 2018, section 3) learns the cost of a program from features of it.
Here the timeline knows most of that; what is learned is the logarithm of cycles on the RTL over its
own, from the features of `celosia.lab.tune.features`, which are the same for all workloads.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from celosia.lab.tune.features import FEATURES, Seen

__all__ = ["CostModel", "Linear", "Sample", "TimelineAlone"]

_PENALTY: Final = 300.0
"""The weight of squared coefficients beside that of squared errors: so high that what a few runs
seem to say changes little, as with a tenth of it plans of other workloads are told wrong."""
_FAR: Final = 3.0
"""Deviations from the mean beyond which a feature counts as no further out."""


@dataclass(frozen=True)
class Sample:
    """A plan that ran on the RTL."""

    seen: Seen
    cycles: int
    """The cycles that it took."""

    @property
    def residual(self) -> float:
        """The logarithm of its cycles over the timeline's."""
        return float(np.log(self.cycles / self.seen.predicted))


class CostModel(Protocol):
    """Something that knows by how much the timeline is wrong."""

    def fit(self, samples: Sequence[Sample]) -> "CostModel":
        """Learn from all `samples`, and forget what was learned before."""
        ...

    def residuals(self, seen: Sequence[Seen]) -> NDArray[np.float64]:
        """The expected logarithm of cycles on the RTL over the timeline's, of each plan."""
        ...


class TimelineAlone:
    """The model to beat: the timeline is right, and the ratio is 1."""

    def fit(self, samples: Sequence[Sample]) -> "TimelineAlone":
        """Nothing is learned."""
        return self

    def residuals(self, seen: Sequence[Seen]) -> NDArray[np.float64]:
        """Zeros."""
        return np.zeros(len(seen))


class Linear:
    """A linear model of features of unit variance, by least squares with a penalty (ridge)."""

    def __init__(self) -> None:
        self._mean, self._spread = np.zeros(len(FEATURES)), np.ones(len(FEATURES))
        self._factors, self._level = np.zeros(len(FEATURES)), 0.0

    def fit(self, samples: Sequence[Sample]) -> "Linear":
        """Without samples, the ratio is 1."""
        if not samples:
            self._factors, self._level = np.zeros(len(FEATURES)), 0.0
            return self
        rows = _matrix([each.seen for each in samples])
        wanted = np.array([each.residual for each in samples])
        self._mean, self._spread = rows.mean(0), rows.std(0)
        self._spread[self._spread < 1e-9] = np.inf  # What never differs says nothing.
        scaled, self._level = self._scaled(rows), float(wanted.mean())
        penalty = _PENALTY * np.eye(len(FEATURES))
        self._factors = np.linalg.solve(
            scaled.T @ scaled + penalty, scaled.T @ (wanted - self._level)
        )
        return self

    def residuals(self, seen: Sequence[Seen]) -> NDArray[np.float64]:
        """What the line says, with features that are no further out than `_FAR`."""
        return self._level + np.clip(self._scaled(_matrix(seen)), -_FAR, _FAR) @ self._factors

    def _scaled(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        return (rows - self._mean) / self._spread


def _matrix(seen: Sequence[Seen]) -> NDArray[np.float64]:
    rows = [[each.features[name] for name in FEATURES] for each in seen]
    return np.array(rows, np.float64).reshape(-1, len(FEATURES))
