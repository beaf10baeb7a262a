"""Products of matrices, convolutions, and pooling, which slides windows as they do."""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from celosia.sw.frontend.nn.operators.operator import (
    FLOATS,
    NUMBERS,
    Array,
    Kind,
    Operator,
    Reach,
    TensorType,
    broadcast_shapes,
    expect,
    same_types,
)

__all__ = ["PRODUCTS"]

_MOST_PLACES: Final = 1 << 31
"""Elements of an axis of an image, padding included."""


def _matmul(types: Sequence[TensorType], _: Mapping[str, Any]) -> TensorType:
    kind = same_types(types, NUMBERS)
    a, b = types
    expect(min(a.rank, b.rank) >= 2, f"{a} and {b} are not both matrices")
    expect(a.shape[-1] == b.shape[-2], f"{a} has not as many columns as {b} has rows")
    stacks = [TensorType(kind, each.shape[:-2]) for each in types]
    return TensorType(kind, (*broadcast_shapes(stacks), a.shape[-2], b.shape[-1]))


def _windows(
    shape: Sequence[int], kernel: Sequence[int], attributes: Mapping[str, Any]
) -> tuple[int, ...]:
    """How many windows there are along each axis of an image of this shape."""
    rank = len(shape)
    before, after, strides, dilations = (
        attributes[name] for name in ("before", "after", "strides", "dilations")
    )
    for name, values in (("kernel", kernel), ("strides", strides), ("dilations", dilations)):
        expect(
            len(values) == rank and min(values, default=1) > 0,
            f"{name}: {tuple(values)} are not {rank} positive numbers",
        )
    expect(
        len(before) == len(after) == rank and min((*before, *after, 0)) >= 0,
        f"before {before} and after {after} are no sizes of {rank} axes",
    )
    found = []
    for axis, size in enumerate(shape):
        padded = before[axis] + size + after[axis]
        expect(padded < _MOST_PLACES, f"axis {axis} has {padded} elements with its padding")
        reach = (kernel[axis] - 1) * dilations[axis] + 1
        expect(padded >= reach, f"axis {axis}: a window of {reach} is not in {padded} elements")
        found.append((padded - reach) // strides[axis] + 1)
    return tuple(found)


def _slide(
    image: Array, kernel: Sequence[int], attributes: Mapping[str, Any], fill: float
) -> Array:
    """All windows of a padded image: batch, channels, places and, last, elements of a window."""
    rank = len(kernel)
    width = [(0, 0), (0, 0), *zip(attributes["before"], attributes["after"], strict=True)]
    padded = np.pad(image, width, constant_values=fill)
    dilations = attributes["dilations"]
    reach = tuple((size - 1) * d + 1 for size, d in zip(kernel, dilations, strict=True))
    views = sliding_window_view(padded, reach, tuple(range(2, 2 + rank)))
    places = tuple(slice(None, None, step) for step in attributes["strides"])
    inside = tuple(slice(None, None, step) for step in dilations)
    return views[(slice(None), slice(None), *places, *inside)]


def _conv(types: Sequence[TensorType], attributes: Mapping[str, Any]) -> TensorType:
    kind = same_types(types, FLOATS)
    image, weights, groups = types[0], types[1], attributes["groups"]
    expect(image.rank >= 3 and weights.rank == image.rank, f"{image} is no image for {weights}")
    fits = groups > 0 and image.shape[1] == groups * weights.shape[1]
    expect(fits, f"{image} has not the channels of {groups} groups of {weights}")
    expect(weights.shape[0] % groups == 0, f"{weights} has not a multiple of {groups} filters")
    if len(types) > 2:
        filters = weights.shape[:1]
        expect(types[2].shape == filters, f"its bias is {types[2]}, not of shape {filters}")
    places = _windows(image.shape[2:], weights.shape[2:], attributes)
    return TensorType(kind, (image.shape[0], weights.shape[0], *places))


def _conv_run(values: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    image, weights, groups = values[0], values[1], attributes["groups"]
    windows = _slide(image, weights.shape[2:], attributes, 0)
    rank, inside = image.ndim - 2, prod(weights.shape[1:])
    batch, places = image.shape[0], windows.shape[2 : 2 + rank]
    # Batch, group, places, then what a filter reads, in the order of its weights.
    split = windows.reshape(batch, groups, weights.shape[1], *windows.shape[2:])
    order = (0, 1, *range(3, 3 + rank), 2, *range(3 + rank, 3 + 2 * rank))
    rows = split.transpose(order).reshape(batch, groups, prod(places), inside)
    filters = weights.reshape(groups, len(weights) // groups, inside).transpose(0, 2, 1)
    found = np.matmul(rows, filters).transpose(0, 1, 3, 2)
    found = found.reshape(batch, weights.shape[0], *places)
    return found if len(values) == 2 else found + values[2].reshape(len(weights), *(1,) * rank)


def _pool(types: Sequence[TensorType], attributes: Mapping[str, Any]) -> TensorType:
    kind = same_types(types, NUMBERS)
    image = types[0]
    expect(image.rank >= 3, f"{image} is no image")
    places = _windows(image.shape[2:], attributes["kernel"], attributes)
    return TensorType(kind, (*image.shape[:2], *places))


def _average_type(types: Sequence[TensorType], attributes: Mapping[str, Any]) -> TensorType:
    same_types(types, FLOATS)
    return _pool(types, attributes)


def _max_pool(values: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    image, kernel = values[0], attributes["kernel"]
    lowest = -np.inf if image.dtype.kind == "f" else np.iinfo(image.dtype).min
    windows = _slide(image, kernel, attributes, lowest)
    return windows.max(axis=tuple(range(-len(kernel), 0)))


def _average_pool(values: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    image, kernel = values[0], attributes["kernel"]
    axes = tuple(range(-len(kernel), 0))
    sums = _slide(image, kernel, attributes, 0).sum(axis=axes)
    inside = _slide(np.ones_like(image), kernel, attributes, 0).sum(axis=axes)
    return (sums / inside).astype(image.dtype)


_SLIDING: Final = {
    "before": Kind.INTS,
    "after": Kind.INTS,
    "strides": Kind.INTS,
    "dilations": Kind.INTS,
}

PRODUCTS: Final = (
    Operator(
        name="matmul",
        doc="The product of matrices a and b, or of stacks of them that broadcast.",
        least=2,
        most=2,
        infer=_matmul,
        compute=lambda values, _: np.matmul(values[0], values[1]),
        reach=Reach.ROW,
        weights=True,
        macs=lambda types, result: result.size * types[0].shape[-1],
    ),
    Operator(
        name="conv",
        doc="The correlation of image a (batch, channels, ...) with filters b, plus c per filter.",
        least=2,
        most=3,
        attributes={**_SLIDING, "groups": Kind.INT},
        infer=_conv,
        compute=_conv_run,
        reach=Reach.SAMPLE,
        weights=True,
        macs=lambda types, result: result.size * prod(types[1].shape[1:]),
    ),
    Operator(
        name="max_pool",
        doc="The largest element of each window of an image.",
        attributes={**_SLIDING, "kernel": Kind.INTS},
        infer=_pool,
        compute=_max_pool,
        reach=Reach.SAMPLE,
        bound=min,
    ),
    Operator(
        name="average_pool",
        doc="The mean of each window of an image, over elements that are not padding.",
        attributes={**_SLIDING, "kernel": Kind.INTS},
        infer=_average_type,
        compute=_average_pool,
        reach=Reach.SAMPLE,
        bound=min,
    ),
)
"""Products, convolutions and pooling."""
