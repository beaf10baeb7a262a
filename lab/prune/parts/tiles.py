"""Tiles of zero weights: which ones, and what the others become."""

import numpy as np

from celosia.lab.prune.parts.limit import by_tile
from celosia.lab.prune.parts.part import Criterion, Gram, Part, repaired
from celosia.lab.prune.parts.share import Share
from celosia.sw.reference.encoder import Linear

__all__ = ["without_tiles"]


def without_tiles(
    linear: Linear,
    gram: Gram,
    share: Share,
    criterion: Criterion,
    *,
    dim: int,
    repair: bool,
    bias: bool,
) -> Linear:
    """A matrix whose least tiles are zero, and its bias, if it has one.

    Tiles are compared by their norm: of weights (`magnitude`), or of weights times the root mean
    square of what they read.  Each block of columns is fitted by least squares to what it was.
    Raises `InputError` for a share that leaves or removes none.
    """
    weights = linear.weights
    scores = np.square(weights, dtype=np.float64)
    if criterion == "activation":
        scores *= (np.diag(gram.products) / max(gram.rows, 1))[:, None]
    sums = by_tile(scores, dim)
    kept = share.tiles(sums.size)
    most = np.argsort(-sums, axis=None, kind="stable")[:kept]
    left = np.isin(np.arange(sums.size), most).reshape(sums.shape[0], -1)
    found, added = np.zeros_like(weights), np.zeros_like(linear.bias)
    for block, ours in enumerate(left.T):
        cols = slice(block * dim, (block + 1) * dim)
        rows = np.flatnonzero(np.repeat(ours, dim)[: len(weights)])
        if repair and len(rows):
            part = Part(unit=1, made=weights[:, 0], reader=weights[:, cols], gram=gram)
            found[rows, cols], more = repaired(part, rows, bias=bias)
            if bias:
                added[cols] = more
        else:
            found[rows, cols] = weights[rows, cols]
    return Linear(found, linear.bias + added)
