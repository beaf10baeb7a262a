"""The matrices that operators of a graph read and write: rectangles, or what the host gathers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Final

import numpy as np

from celosia.sw.frontend.expressions.layout import (
    Axes,
    Matrix,
    Place,
    offsets,
    rectangle,
    stored,
)
from celosia.sw.frontend.expressions.nodes import Axis, ExpressionError
from celosia.sw.frontend.expressions.rules import Reader
from celosia.sw.ir.graphs.tensors import View

__all__ = ["MOST_PRODUCTS", "Operand", "Want", "operand", "points_of", "result"]

MOST_PRODUCTS: Final = 256
"""Products that a statement is computed by at most."""


@dataclass(frozen=True, eq=False)
class Want:
    """What an operator asks for: elements whose rows and columns go over these axes."""

    place: Place
    rows: Axes
    cols: Axes
    name: str
    """What the matrix is called if it has to be gathered."""
    turns: bool = False
    """It may as well stand transposed."""


@dataclass(frozen=True, eq=False)
class Operand:
    """What an operator gets: a rectangle for each of the products."""

    matrix: Matrix
    views: tuple[View, ...]
    turned: bool = False
    """Rows and columns have changed places."""

    @property
    def gathered(self) -> int:
        """Elements that the host gathers or scatters each time."""
        if self.matrix.gathered is None or self.matrix.tensor.value is not None:
            return 0
        return self.matrix.gathered.size


def points_of(batch: Axes) -> list[Mapping[Axis, int]]:
    """The points of the axes that products are counted by.  Raises `ExpressionError`."""
    count = prod(axis.extent for axis in batch)
    if count > MOST_PRODUCTS:
        names = ", ".join(map(str, batch))
        raise ExpressionError(
            f"{names}: both factors and the result have it, which makes {count:,} products, more "
            f"than {MOST_PRODUCTS}"
        )
    places = product(*(range(axis.extent) for axis in batch))
    return [dict(zip(batch, place, strict=True)) for place in places]


def operand(reader: Reader, want: Want, points: Sequence[Mapping[Axis, int]]) -> Operand:
    """What is read.  Raises `ExpressionError` if the host cannot gather what another one stores."""
    if found := _stored(reader, want, points):
        return found
    tensor = want.place.tensor
    if reader.is_computed(tensor):
        raise ExpressionError(
            f"it reads {tensor.name}, which is computed before, in an order that is no rectangle "
            "of what is stored"
        )
    return _gathered(want, points)


def result(reader: Reader, want: Want, points: Sequence[Mapping[Axis, int]]) -> Operand:
    """What is written.  Raises `ExpressionError` if others read what the host has to lay out."""
    if found := _stored(reader, want, points):
        return found
    tensor = want.place.tensor
    if not reader.is_result(tensor):
        raise ExpressionError(
            f"others read {tensor.name}, whose elements are computed in an order that is no "
            "rectangle of it"
        )
    return _gathered(want, points)


def _stored(reader: Reader, want: Want, points: Sequence[Mapping[Axis, int]]) -> Operand | None:
    """Rectangles of the tensor as it is stored."""
    tensor = want.place.tensor
    split = reader.split(tensor)
    for turned in (False, True) if want.turns else (False,):
        axes = (want.cols, want.rows) if turned else (want.rows, want.cols)
        views = [rectangle(want.place.at(point), *axes, split) for point in points]
        if all(views):
            matrix = Matrix(tensor.name, tensor, *stored(tensor, split))
            return Operand(matrix, tuple(view for view in views if view), turned)
    return None


def _gathered(want: Want, points: Sequence[Mapping[Axis, int]]) -> Operand:
    """A matrix of its own: what each product takes stands below the other."""
    down, across = offsets(want.place, want.rows), offsets(want.place, want.cols)
    inside = down[:, np.newaxis] + across
    index = np.concatenate([want.place.at(point).start + inside for point in points])
    rows, cols = inside.shape
    matrix = Matrix(want.name, want.place.tensor, rows * len(points), cols, index)
    views = [View(want.name, n * rows, 0, rows, cols) for n in range(len(points))]
    return Operand(matrix, tuple(views))
