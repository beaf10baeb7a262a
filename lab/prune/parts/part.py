"""What can be made narrower: columns that some matrices make and one reads, and which to keep.

The product of the reader is what the rest of a model sees.  Least squares finds the rows of a
narrower reader that come nearest to it on calibration data (the repair of one-shot pruning, as in
He, Zhang and Sun, "Channel Pruning for Accelerating Very Deep Neural Networks", 2017, section 3.1).
"""

from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from celosia.sw.reference.encoder import Floats

__all__ = ["CRITERIA", "Criterion", "Gram", "Part", "kept_columns", "repaired"]

Criterion = Literal["magnitude", "activation", "first-order"]
CRITERIA: Final[tuple[Criterion, ...]] = ("magnitude", "activation", "first-order")
"""What tells how much a column matters.

``magnitude``: the norms of the weights that make it, times that of those that read it;
``activation``: its root mean square in calibration, times the norm of the weights that read it;
``first-order``: how much the loss would change without it, by its gradient (Molchanov et al.,
"Importance Estimation for Neural Network Pruning", 2019, equation 8).
"""

_RIDGE: Final = 1e-4
"""What is added to the mean of a Gram matrix's diagonal: columns may depend on each other."""


class Gram:
    """Products of all columns of activations with each other, and their sums, in float64."""

    def __init__(self, columns: int):
        self.products = np.zeros((columns, columns))
        self.sums = np.zeros(columns)
        self.rows = 0

    def add(self, rows: Floats) -> None:
        """Count more rows: (rows, columns)."""
        self.products += rows.T.astype(np.float64) @ rows
        self.sums += rows.sum(axis=0, dtype=np.float64)
        self.rows += len(rows)


@dataclass(frozen=True, eq=False, kw_only=True)
class Part:
    """Columns that are kept or removed in units of some that stand beside each other."""

    unit: int
    """Columns of a unit: 1 channel, or those of the heads that share keys."""
    made: Floats
    """For each column the product of the norms of the weights that make it."""
    reader: Floats
    """The matrix that reads the columns: (columns, outputs)."""
    gram: Gram
    """The columns in calibration."""
    changes: NDArray[Any] | None = None
    """How much the loss of each window changes with each column: (windows, columns)."""


def kept_columns(part: Part, criterion: Criterion, units: int) -> NDArray[np.intp]:
    """The columns of the `units` that matter most, in order."""
    sizes = np.linalg.norm(part.reader, axis=1).astype(np.float64)
    if criterion == "first-order":
        assert part.changes is not None
        together = part.changes.reshape(len(part.changes), -1, part.unit).sum(axis=2)
        scores = np.abs(together).mean(axis=0)
    else:
        mean = np.sqrt(np.diag(part.gram.products) / max(part.gram.rows, 1))
        each = np.square(sizes * (part.made if criterion == "magnitude" else mean))
        scores = each.reshape(-1, part.unit).sum(axis=1)
    chosen = np.sort(np.argsort(-scores, kind="stable")[:units])
    return (chosen[:, None] * part.unit + np.arange(part.unit)).ravel()


def repaired(part: Part, kept: NDArray[np.intp], *, bias: bool) -> tuple[Floats, Floats]:
    """The rows of a reader of the `kept` columns, and what is added to its bias.

    Together they are nearest to the product of all columns, in the mean of squares over
    calibration; without a `bias`, what is added is 0.
    """
    gram, reader = part.gram, part.reader.astype(np.float64)
    products = gram.products
    mean = gram.sums / max(gram.rows, 1)
    if bias:
        products = products - np.outer(mean, gram.sums)
    own = products[np.ix_(kept, kept)]
    ridge = _RIDGE * (np.trace(own) / len(kept) or 1.0)
    # Near the old rows, and not near 0: columns that are never active keep theirs.
    wanted = products[kept] @ reader + ridge * reader[kept]
    found = np.linalg.solve(own + ridge * np.eye(len(kept)), wanted)
    added = mean @ reader - mean[kept] @ found if bias else np.zeros(reader.shape[1])
    return found.astype(np.float32), added.astype(np.float32)
