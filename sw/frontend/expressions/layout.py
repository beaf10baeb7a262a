"""Where elements of tensors stand in matrices: as they are stored, or as the host lays them out.

A tensor is stored as a matrix, row-major: so many of its axes, from the first, are rows, the others
columns.  What an operator reads is a rectangle of that, or a matrix that the host gathers before.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from celosia.sw.frontend.expressions.nodes import Access, Axis, Tensor
from celosia.sw.frontend.expressions.terms import affine
from celosia.sw.ir.graphs.tensors import View

__all__ = ["Axes", "Matrix", "Place", "offsets", "place_of", "rectangle", "stored"]

Axes = tuple[Axis, ...]


@dataclass(frozen=True, eq=False)
class Matrix:
    """A matrix of a graph, made of the elements of a tensor."""

    name: str
    tensor: Tensor
    rows: int
    cols: int
    gathered: NDArray[np.int64] | None = None
    """The element of the tensor, counted in order, that each of its elements is; None: all of
    them in order, as the tensor is stored."""

    def of(self, array: NDArray) -> NDArray:
        """The matrix of a tensor's elements."""
        flat = np.asarray(array).reshape(-1)
        found = flat if self.gathered is None else flat[self.gathered]
        return np.ascontiguousarray(found.reshape(self.rows, self.cols))

    def back(self, matrix: NDArray) -> NDArray:
        """The tensor whose elements all stand in the matrix."""
        flat = np.empty(prod(self.tensor.shape), matrix.dtype)
        flat[slice(None) if self.gathered is None else self.gathered.reshape(-1)] = matrix.reshape(
            -1
        )
        return flat.reshape(self.tensor.shape)


@dataclass(frozen=True, eq=False)
class Place:
    """A place among a tensor's elements, counted in order: a number, and a step of each axis."""

    tensor: Tensor
    start: int
    steps: Mapping[Axis, int]

    def at(self, point: Mapping[Axis, int]) -> "Place":
        """The place where some axes are fixed."""
        start = self.start + sum(self.steps.get(axis, 0) * at for axis, at in point.items())
        return Place(self.tensor, start, self.steps)


def place_of(access: Access) -> Place:
    """Where the elements of an access stand."""
    start, steps, pitch = 0, dict[Axis, int](), 1
    for index, size in reversed([*zip(access.indices, access.tensor.shape, strict=True)]):
        found = affine(index)
        start += found.start * pitch
        for axis, number in found.steps.items():
            steps[axis] = steps.get(axis, 0) + number * pitch
        pitch *= size
    return Place(access.tensor, start, steps)


def offsets(place: Place, axes: Axes) -> NDArray[np.int64]:
    """How far elements stand from the first one, for all points of some axes in order."""
    found = np.zeros(1, np.int64)
    for axis in axes:
        step = np.arange(axis.extent) * place.steps.get(axis, 0)
        found = (found[:, np.newaxis] + step).reshape(-1)
    return found


def stored(tensor: Tensor, rows: int) -> tuple[int, int]:
    """The extents of the matrix of which so many axes are rows."""
    return prod(tensor.shape[:rows]), prod(tensor.shape[rows:])


def rectangle(place: Place, rows: Axes, cols: Axes, split: int) -> View | None:
    """The rectangle of a tensor, stored with `split` axes as rows, that these axes walk in order.

    None: they walk none.
    """
    pitch = stored(place.tensor, split)[1]
    down, across = offsets(place, rows), offsets(place, cols)
    row, col = divmod(place.start, pitch)
    if _walks(down, pitch) and _walks(across, 1) and col + len(across) <= pitch:
        return View(place.tensor.name, row, col, len(down), len(across))
    return None


def _walks(steps: Sequence[int] | NDArray[np.int64], step: int) -> bool:
    return bool(np.array_equal(steps, np.arange(len(steps)) * step))
