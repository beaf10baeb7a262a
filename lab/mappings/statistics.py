"""What a sample of plans shows: how plans spread, which stand for all, and whether order holds."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Spread", "rank_correlation", "spread_of", "spread_picks"]


@dataclass(frozen=True, kw_only=True)
class Spread:
    """How the values of a sample lie above the least."""

    least: float
    """The least."""
    tenth: float
    """The tenth percentile over the least."""
    median: float
    """The median over the least."""
    most: float
    """The largest over the least."""
    below_three: float
    """Percent of values below three times the least."""


def spread_of(values: NDArray[np.float64]) -> Spread:
    """The spread of `values`, of which there is one at least."""
    least = float(values.min())
    tenth, median = np.percentile(values, (10, 50)) / least
    return Spread(
        least=least,
        tenth=float(tenth),
        median=float(median),
        most=float(values.max()) / least,
        below_three=float(100 * np.mean(values < 3 * least)),
    )


def spread_picks(
    values: NDArray[np.float64], count: int, allowed: NDArray[np.bool_]
) -> Sequence[int]:
    """The numbers of up to `count` plans, evenly from the least of the allowed to the largest."""
    order = np.flatnonzero(allowed)[np.argsort(values[allowed], kind="stable")]
    places = np.linspace(0, len(order) - 1, min(count, len(order))).round().astype(int)
    return [int(order[place]) for place in dict.fromkeys(places.tolist())]


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float:
    """Spearman's rho; equal values share the mean of their ranks.  NaN if all are equal."""
    a, b = _ranks(first), _ranks(second)
    a, b = a - a.mean(), b - b.mean()
    scale = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / scale if scale else float("nan")


def _ranks(values: Sequence[float]) -> NDArray[np.float64]:
    _, place, count = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    ends = np.cumsum(count)
    return (ends - (count - 1) / 2)[place]
