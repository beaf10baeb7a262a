"""What an expression means: integers, point by point, apart from any graph or intrinsic.

Functions around an element have the meanings that the instruction set gives them
(`celosia.isa.functions`).
"""

from collections.abc import Mapping
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.functions.operands import Operands
from celosia.isa.functions.table import FUNCTIONS, Function
from celosia.sw.frontend.expressions.nodes import (
    Access,
    Add,
    Apply,
    Axis,
    Compare,
    Expression,
    Multiply,
    Number,
    Tensor,
    Total,
    parts,
)

__all__ = ["Array", "elements", "points", "whole"]

Array = NDArray[Any]
_Grid = Mapping[Axis, Array]

_AT_ONCE: Final = 1 << 21
"""Points of all axes together that are evaluated at once, about."""


def whole(tensor: Tensor, values: Mapping[str, Array]) -> Array:
    """All elements of a computed tensor; `values` are those that it reads, by name."""
    every = np.arange(prod(tensor.shape))
    return elements(tensor, values, every).reshape(tensor.shape)


def points(tensor: Tensor, most: int, random: np.random.Generator) -> NDArray[np.int64]:
    """Elements of a computed tensor, counted in order, that cost at most so many products, about.

    The first and the last one are among them.
    """
    count, each = prod(tensor.shape), _cost(tensor.body)
    kept = max(2, most // each)
    if kept >= count:
        return np.arange(count)
    drawn = random.integers(0, count, kept - 2)
    return np.unique(np.concatenate([[0, count - 1], drawn]))


def elements(tensor: Tensor, values: Mapping[str, Array], which: NDArray[np.int64]) -> Array:
    """Some elements of a computed tensor, counted in order."""
    body, found = tensor.body, np.empty(len(which), tensor.dtype)
    assert body is not None
    step = max(1, _AT_ONCE // _cost(body))
    for first in range(0, len(which), step):
        part = which[first : first + step]
        grid = _grid(tensor, part)
        inner = body.x if isinstance(body, Apply) else body
        found_there = _value(inner, grid, values).reshape(-1)
        numbers = np.broadcast_to(found_there, part.shape)
        if isinstance(body, Apply):
            numbers = _applied(body, numbers, np.dtype(tensor.dtype))
        found[first : first + step] = numbers
    return found


def _reduced(body: Expression | None) -> list[Axis]:
    """The axes that totals run over."""
    totals = (each for each in parts(body) if isinstance(each, Total)) if body is not None else ()
    return list(dict.fromkeys(axis for each in totals for axis in each.axes))


def _cost(body: Expression | None) -> int:
    """Points of the axes of all totals together."""
    return prod(axis.extent for axis in _reduced(body))


def _grid(tensor: Tensor, which: NDArray[np.int64]) -> dict[Axis, Array]:
    """A dimension of points, and one for each axis of totals."""
    reduced = _reduced(tensor.body)
    ones = (1,) * len(reduced)
    places = np.unravel_index(which, tensor.shape)
    grid = {axis: at.reshape(-1, *ones) for axis, at in zip(tensor.axes, places, strict=True)}
    for place, axis in enumerate(reduced):
        shape = [1] * (1 + len(reduced))
        shape[1 + place] = axis.extent
        grid[axis] = np.arange(axis.extent).reshape(shape)
    return grid


def _applied(body: Apply, numbers: Array, kind: np.dtype[Any]) -> Array:
    x = numbers.astype(np.int32)[np.newaxis]
    operands = Operands(
        x=x,
        kind=kind,
        scale=np.float32(body.scale),
        scale2=np.float32(body.out_scale),
        zero_point=body.zero_point,
        relu=body.relu,
    )
    (made,) = FUNCTIONS[Function[body.function.upper()]].meaning(operands)
    return made[0]


def _value(expression: Expression, grid: _Grid, values: Mapping[str, Array]) -> Array:
    """The value on a grid, in which each axis of a total has a dimension of its own."""
    match expression:
        case Number():
            dimensions = next(iter(grid.values())).ndim
            found = np.full((1,) * dimensions, expression.value, np.int64)
        case Axis():
            found = grid[expression]
        case Add():
            found = _value(expression.a, grid, values) + _value(expression.b, grid, values)
        case Multiply():
            found = _value(expression.a, grid, values) * _value(expression.b, grid, values)
        case Compare():
            a, b = _value(expression.a, grid, values), _value(expression.b, grid, values)
            found = (a < b if expression.how == "<" else a <= b).astype(np.int64)
        case Access():
            indices = tuple(_value(each, grid, values) for each in expression.indices)
            known = expression.tensor.value
            array = values[expression.tensor.name] if known is None else known
            found = array[indices].astype(np.int64)
        case Total():
            body = _value(expression.body, grid, values)
            own = [grid[axis] for axis in expression.axes]
            shape = np.broadcast_shapes(body.shape, *(each.shape for each in own))
            dimensions = tuple(
                int(np.argmax(np.array(each.shape))) for each in own if each.size > 1
            )
            found = np.broadcast_to(body, shape).sum(axis=dimensions, keepdims=True)
        case _:
            raise AssertionError(expression)
    return found
