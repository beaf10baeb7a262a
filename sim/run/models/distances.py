"""How far a model's outputs are from those of its float graph, hidden tokens left out."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from typing import Annotated

import numpy as np

from celosia.isa.documents.record import As, Named
from celosia.sim.workloads.models.decibels import decibels
from celosia.sw.frontend.nn.operators.operator import Array
from celosia.sw.frontend.visible_rows import Rows

__all__ = ["Counted", "Distance", "distances"]


@dataclass(frozen=True)
class Counted:
    """The rows of an output that are compared: those of tokens that somebody sees."""

    rows: Annotated[int, Named("counted")]
    """Rows that count: rows of tokens that nobody sees do not."""
    of: int
    """All rows."""
    spans: tuple[tuple[int, int], ...]
    """The first and the last row of each run of rows that count, all texts below each other."""
    elements: bool = False
    """Each element is a row of its own: those of one row belong to several tokens."""

    def __str__(self) -> str:
        kind = "elements" if self.elements else "rows"
        return f"{self.rows:,} of {self.of:,} {kind}"


def _finite(number: float) -> float | None:
    return number if isfinite(number) else None


@dataclass(frozen=True)
class Distance:
    """How far an output is from that of the float graph: its rows that count, but for `all_`."""

    name: str
    """The output."""
    sqnr_db: Annotated[float, As(_finite)]
    """The signal over the noise, in dB; null: there is no noise."""
    exact_sqnr_db: Annotated[float, As(_finite)]
    """The same integers reach so much with exact functions: polynomials lose the difference."""
    cosine: float
    """The cosine of the output to that of the float graph."""
    top1: float | None
    """The share of rows whose largest element is the same one; null: rows are no logits."""
    counted: Annotated[Counted, Named("rows")]
    """The rows that the numbers are of."""
    all_sqnr_db: Annotated[float, Named("all_rows_sqnr_db"), As(_finite)]
    """All rows have this one, those of hidden tokens included."""
    all_cosine: Annotated[float, Named("all_rows_cosine")]
    """The cosine of all rows."""
    pooled_cosine: float | None = None
    """The mean over texts: of their vectors, or of the means of their visible rows; null: there is
    no mask, or rows are no vectors of texts."""


def distances(
    real: Mapping[str, Array],
    found: Mapping[str, Array],
    best: Mapping[str, Array],
    rows: Mapping[str, Rows] | None = None,
) -> tuple[Distance, ...]:
    """How far outputs are from those of the float graph; integers are left out.

    `best` are the outputs of the same integers with exact functions, `rows` say what counts of
    each output; without it, all does.
    """
    return tuple(
        _distance(
            name,
            (value.astype(np.float64), found[name].astype(np.float64), best[name]),
            (rows or {}).get(name) or Rows(np.ones(value.shape[:-1], bool)),
        )
        for name, value in real.items()
        if value.dtype.kind == "f" and value.size
    )


def _distance(name: str, outputs: tuple[Array, Array, Array], rows: Rows) -> Distance:
    real, found, best = outputs
    shown = rows.visible if rows.visible.any() else np.ones_like(rows.visible)
    mine, other, exact = (each[shown] for each in (real, found, best))
    by_rows, logits = shown.ndim < real.ndim, "logits" in name
    top1 = pooled = None
    if logits and by_rows:
        top1 = float((mine.argmax(-1) == other.argmax(-1)).mean())
    elif rows.texts and by_rows:
        pooled = _pooled(real, found, shown)
    return Distance(
        name=name,
        sqnr_db=decibels(mine, other),
        exact_sqnr_db=decibels(mine, exact),
        cosine=_cosine(mine, other),
        top1=top1,
        counted=_counted(shown, by_rows=by_rows),
        all_sqnr_db=decibels(real, found),
        all_cosine=_cosine(real, found),
        pooled_cosine=pooled,
    )


def _counted(shown: Array, *, by_rows: bool) -> Counted:
    flat = shown.reshape(-1)
    edges = np.flatnonzero(np.diff(np.concatenate(([False], flat, [False])).astype(np.int8)))
    spans = tuple((int(first), int(behind) - 1) for first, behind in _pairs(edges))
    return Counted(int(flat.sum()), flat.size, spans, elements=not by_rows)


def _pairs(edges: Array) -> Iterator[tuple[int, int]]:
    """Where runs begin and end: every other pair of neighbors."""
    yield from [pair for number, pair in enumerate(pairwise(edges.tolist())) if number % 2 == 0]


def _pooled(real: Array, found: Array, shown: Array) -> float:
    """The mean cosine of the vectors of texts."""
    if real.ndim == 2:
        real, found, shown = (each[:, np.newaxis] for each in (real, found, shown))
    cosines = [
        _cosine(mine[seen].mean(axis=0), other[seen].mean(axis=0))
        for mine, other, seen in zip(real, found, shown, strict=True)
        if seen.any()
    ]
    return float(np.mean(cosines))


def _cosine(real: Array, found: Array) -> float:
    """The cosine between all elements: 0 if one is nothing but zeros, 1 if both are.

    Squares of a small float32 are 0, those of a float64 are not.
    """
    pair = [np.asarray(each, np.float64) for each in (real, found)]
    lengths = float(np.prod([np.linalg.norm(each) for each in pair]))
    if lengths:
        return float(np.vdot(*pair)) / lengths
    return float(not any(each.any() for each in pair))
