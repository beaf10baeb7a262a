"""What skipping tiles of zero weights would gain at best.

A program multiplies by a matrix in tiles of as many rows and columns as the array has.  No program
skips one (docs/pruning.md says why): what that would gain has a limit, which is counted here.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.reference.encoder import Floats

__all__ = ["Skipped", "by_tile", "skipped"]


@dataclass(frozen=True)
class Skipped:
    """What programs would not do if they skipped each tile of zeros."""

    cycles: int
    """Cycles of the array."""
    shares: Mapping[tuple[int, int], float]
    """The share of tiles that are zero, by the size of their matrices."""


def skipped(graph: FloatGraph, dim: int) -> Skipped | None:
    """What a graph's products have of it; None: no tile is zero.

    A tile takes the array `dim` cycles, or one for each row that is multiplied by it, if these are
    more.
    """
    cycles, zeros, all_tiles = 0, Counter[tuple[int, int]](), Counter[tuple[int, int]]()
    for rows, weights in _products(graph):
        empty = ~by_tile(weights != 0, dim).astype(bool)
        size = weights.shape[0], weights.shape[1]
        all_tiles[size] += empty.size
        zeros[size] += int(empty.sum())
        cycles += int(empty.sum()) * -(-rows // dim) * dim
    if not any(zeros.values()):
        return None
    return Skipped(cycles, {size: zeros[size] / count for size, count in all_tiles.items()})


def _products(graph: FloatGraph) -> Iterator[tuple[int, Floats]]:
    """Each product with a constant matrix: the rows that it multiplies, and the matrix."""
    for node in graph.nodes:
        weights = graph.constants.get(node.inputs[1]) if node.op == "matmul" else None
        if weights is not None and weights.ndim == 2:
            yield int(np.prod(node.type.shape[:-1])), weights


def by_tile(values: NDArray[np.float64] | NDArray[np.bool_], dim: int) -> NDArray[np.float64]:
    """The sum of each tile's elements; tiles at the ends may be smaller."""
    rows = np.add.reduceat(values.astype(np.float64), np.arange(0, values.shape[0], dim), axis=0)
    return np.add.reduceat(rows, np.arange(0, values.shape[1], dim), axis=1)
