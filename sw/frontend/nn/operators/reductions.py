"""Operators along axes: sums, extremes, their places and order, and running sums."""

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, Final

import numpy as np

from celosia.sw.frontend.nn.operators.operator import (
    FLOATS,
    NUMBERS,
    TYPES,
    Array,
    Kind,
    Operator,
    Reach,
    TensorType,
    expect,
    normalized_axes,
    normalized_axis,
    same_types,
)

__all__ = ["REDUCTIONS", "mean"]


def _reduced(shape: tuple[int, ...], axes: Sequence[int], keep: bool) -> tuple[int, ...]:
    if keep:
        return tuple(1 if axis in axes else size for axis, size in enumerate(shape))
    return tuple(size for axis, size in enumerate(shape) if axis not in axes)


def _reduction(
    name: str,
    compute: Callable[..., Any],
    allowed: Sequence[str],
    doc: str,
    empty: bool = True,
    bound: Callable[[Sequence[float]], float] | None = min,
) -> Operator:
    def infer(types: Sequence[TensorType], attributes: Mapping[str, Any]) -> TensorType:
        kind = same_types(types, allowed)
        axes = normalized_axes(attributes["axes"], types[0].rank)
        if not empty:
            sizes = [types[0].shape[axis] for axis in axes]
            expect(min(sizes, default=1) > 0, f"{types[0]} has no element along an axis of {axes}")
        return TensorType(kind, _reduced(types[0].shape, axes, attributes["keepdims"]))

    def run(values: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
        axes = normalized_axes(attributes["axes"], values[0].ndim)
        found = compute(values[0], axis=axes, keepdims=attributes["keepdims"])
        return np.asarray(found).astype(values[0].dtype, copy=False)

    return Operator(
        name=name,
        doc=doc,
        attributes={"axes": Kind.INTS, "keepdims": Kind.BOOL},
        infer=infer,
        compute=run,
        reach=Reach.ALL,
        bound=bound,
    )


def _total_bound(least: Sequence[float]) -> float:
    return 0.0 if min(least) >= 0 else -np.inf


def mean(x: Array, axis: tuple[int, ...], keepdims: bool) -> Array:
    """The mean along axes; of no element NaN, as ONNX has it, and without a warning."""
    count = x.dtype.type(prod(x.shape[each] for each in axis))
    return np.sum(x, axis=axis, keepdims=keepdims) / count


def _argmax(types: Sequence[TensorType], attributes: Mapping[str, Any]) -> TensorType:
    same_types(types, NUMBERS)
    axis = normalized_axis(attributes["axis"], types[0].rank)
    expect(types[0].shape[axis] > 0, f"{types[0]} has no element along axis {axis}")
    return TensorType("int64", _reduced(types[0].shape, (axis,), attributes["keepdims"]))


def _argmax_run(values: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    x, axis, keep = values[0], attributes["axis"], attributes["keepdims"]
    if attributes["last"]:
        found = x.shape[axis] - 1 - np.argmax(np.flip(x, axis), axis=axis, keepdims=keep)
    else:
        found = np.argmax(x, axis=axis, keepdims=keep)
    return np.asarray(found).astype(np.int64)


def _cumsum(types: Sequence[TensorType], attributes: Mapping[str, Any]) -> TensorType:
    same_types(types, NUMBERS)
    normalized_axis(attributes["axis"], types[0].rank)
    return types[0]


def _cumsum_run(values: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    axis = attributes["axis"]
    x = np.flip(values[0], axis) if attributes["reverse"] else values[0]
    sums = np.cumsum(x, axis, dtype=x.dtype)
    if attributes["exclusive"]:
        sums = (sums - x).astype(x.dtype)
    return np.flip(sums, axis) if attributes["reverse"] else sums


def _largest(types: Sequence[TensorType], attributes: Mapping[str, Any]) -> TensorType:
    same_types(types, NUMBERS)
    axis, count = normalized_axis(attributes["axis"], types[0].rank), attributes["count"]
    shape = list(types[0].shape)
    expect(0 <= count <= shape[axis], f"{types[0]} has not {count} elements along axis {axis}")
    shape[axis] = count
    return TensorType("int64", tuple(shape))


def _largest_run(values: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    x, axis, count = values[0], attributes["axis"], attributes["count"]
    if not attributes["smallest"]:
        # The complement of an integer turns the order around and never overflows.
        x = -x if x.dtype.kind == "f" else ~x
    found = np.argsort(x, axis=axis, kind="stable").astype(np.int64)
    return np.take(found, np.arange(count), axis=axis)


REDUCTIONS: Final = (
    _reduction("reduce_max", np.max, TYPES, "The largest element along axes.", empty=False),
    _reduction("reduce_mean", mean, FLOATS, "The mean along axes."),
    _reduction("reduce_min", np.min, TYPES, "The smallest element along axes.", empty=False),
    _reduction(
        "reduce_prod",
        np.prod,
        NUMBERS,
        "The product along axes; integers wrap.",
        bound=_total_bound,
    ),
    _reduction(
        "reduce_sum",
        np.sum,
        NUMBERS,
        "The sum along axes; integers wrap.",
        bound=_total_bound,
    ),
    Operator(
        name="argmax",
        doc="The place of the largest element along an axis: of the first one, or of the `last`.",
        attributes={"axis": Kind.INT, "keepdims": Kind.BOOL, "last": Kind.BOOL},
        infer=_argmax,
        compute=_argmax_run,
        reach=Reach.ALL,
    ),
    Operator(
        name="largest",
        doc="The places of the `count` largest or `smallest` elements along an axis, in order.",
        attributes={"axis": Kind.INT, "count": Kind.INT, "smallest": Kind.BOOL},
        infer=_largest,
        compute=_largest_run,
        reach=Reach.ALL,
    ),
    Operator(
        name="cumsum",
        doc="The sums of all elements up to each along an axis, without it if `exclusive`.",
        attributes={"axis": Kind.INT, "exclusive": Kind.BOOL, "reverse": Kind.BOOL},
        infer=_cumsum,
        compute=_cumsum_run,
        reach=Reach.ALL,
    ),
)
"""Operators along axes."""
