"""Operators of ONNX that read and write at places which the model computes."""

from math import prod
from typing import Final

import numpy as np

from celosia.sw.frontend.importer.handlers.registry import Handlers
from celosia.sw.frontend.importer.source.call import Call
from celosia.sw.frontend.nn.operators.operator import expect, normalized_axis

__all__ = ["INDEXING"]

INDEXING: Final = Handlers()

_MOST_DEPTH: Final = 1 << 24
"""The most places that a one-hot tensor tells apart."""


@INDEXING.of("Gather")
def _gather(call: Call) -> str:
    axis = normalized_axis(call.attribute("axis", 0), call.type(0).rank)
    return call.op("gather", call[0], call[1], axis=axis)


def _positive(call: Call, indices: str, size: int) -> str:
    """`indices`, as int64 counted from the first."""
    indices = call.op("cast", indices, to="int64")
    below = call.op("less", indices, call.scalar(0, indices))
    return call.op("where", below, call.op("add", indices, call.scalar(size, indices)), indices)


@INDEXING.of("GatherElements")
def _gather_elements(call: Call) -> str:
    axis = normalized_axis(call.attribute("axis", 0), call.type(0).rank)
    return _elements(call, call[0], call[1], axis)


def _elements(call: Call, x: str, chosen: str, axis: int) -> str:
    """The elements of `x` at the places along an axis that `chosen` has."""
    data, places = call.build.type(x), call.build.type(chosen)
    strides = _strides(data.shape)
    grid = sum(
        np.arange(size).reshape([-1 if a == b else 1 for b in range(places.rank)]) * strides[a]
        for a, size in enumerate(places.shape)
        if a != axis
    )
    along = _positive(call, chosen, data.shape[axis])
    along = call.op("mul", along, call.scalar(strides[axis], along))
    flat = call.op("add", along, call.indices(grid))
    return call.op("gather", call.reshape(x, (data.size,)), flat, axis=0)


@INDEXING.of("TopK", but="a number of elements that the model computes")
def _top_k(call: Call) -> tuple[str, str]:
    axis = normalized_axis(call.attribute("axis", -1), call.type(0).rank)
    count = int(call.known(1, "number of elements").reshape(()))
    call.ignore("sorted")  # In whatever order they may be, they are here.
    smallest = not call.attribute("largest", 1)
    places = call.op("largest", call[0], axis=axis, count=count, smallest=smallest)
    return _elements(call, call[0], places, axis), places


def _strides(shape: tuple[int, ...]) -> list[int]:
    """How many elements lie between neighbors of each axis."""
    return [prod(shape[axis + 1 :]) for axis in range(len(shape))]


@INDEXING.of("GatherND")
def _gather_nd(call: Call) -> str:
    data, places = call.type(0), call.type(1)
    shared = call.attribute("batch_dims", 0)
    expect(0 <= shared < min(data.rank, places.rank), f"batch_dims: {shared} is not possible")
    depth = places.shape[-1]
    expect(shared + depth <= data.rank, f"{places} index more axes than {data} has")
    head, rest = data.shape[: shared + depth], data.shape[shared + depth :]
    strides = _strides(head)
    flat = call.indices(
        sum(
            np.arange(size).reshape([-1 if a == b else 1 for b in range(places.rank - 1)])
            * strides[a]
            for a, size in enumerate(data.shape[:shared])
        )
    )
    for index in range(depth):
        axis = places.rank - 1
        column = call.op("gather", call[1], call.indices(index), axis=axis)
        column = _positive(call, column, head[shared + index])
        stride = call.scalar(strides[shared + index], column)
        flat = call.op("add", flat, call.op("mul", column, stride))
    return call.op("gather", call.reshape(call[0], (prod(head), *rest)), flat, axis=0)


@INDEXING.of("ScatterND")
def _scatter_nd(call: Call) -> str:
    by = call.attribute("reduction", "none")
    return call.op("scatter", call[0], call[1], call[2], by=by)


@INDEXING.of("ScatterElements", "Scatter")
def _scatter_elements(call: Call) -> str:
    places = call.type(1)
    axis = normalized_axis(call.attribute("axis", 0), call.type(0).rank)
    columns = []
    for index, size in enumerate(places.shape):
        column = call.op("cast", call[1], to="int64")
        if index != axis:
            grid = np.arange(size).reshape([-1 if a == index else 1 for a in range(places.rank)])
            column = call.indices(np.broadcast_to(grid, places.shape))
        columns.append(call.reshape(column, (*places.shape, 1)))
    indices = call.op("concat", *columns, axis=places.rank)
    by = call.attribute("reduction", "none")
    return call.op("scatter", call[0], indices, call[2], by=by)


@INDEXING.of("OneHot", but="a depth that the model computes")
def _one_hot(call: Call) -> str:
    depth = int(call.known(1, "depth").reshape(()))
    expect(0 <= depth <= _MOST_DEPTH, f"its depth {depth} is not in 0..{_MOST_DEPTH}")
    rank = call.type(0).rank
    axis = normalized_axis(call.attribute("axis", -1), rank + 1)
    indices = call[0]
    if not call.type(0).dtype.startswith("int"):
        indices = call.op("cast", indices, to="int64")
    indices = _positive(call, indices, depth)
    shape = call.type(0).shape
    column = call.reshape(indices, (*shape[:axis], 1, *shape[axis:]))
    places = np.arange(depth).reshape([-1 if a == axis else 1 for a in range(rank + 1)])
    hot = call.op("equal", column, call.indices(places))
    off, on = (call.op("gather", call[2], call.indices(index), axis=0) for index in (0, 1))
    return call.op("where", hot, on, off)
