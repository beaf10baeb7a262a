"""Operators that move elements and compute nothing."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from celosia.sw.frontend.nn.operators.operator import (
    FLOATS,
    TYPES,
    Array,
    Kind,
    Operator,
    Reach,
    TensorType,
    always,
    expect,
    normalized_axis,
    same_types,
)

__all__ = ["LAYOUT"]


def _reshape(types: Sequence[TensorType], attributes: Mapping[str, Any]) -> TensorType:
    result = TensorType(types[0].dtype, attributes["shape"])
    fits = min(result.shape, default=0) >= 0 and result.size == types[0].size
    expect(fits, f"{types[0]} has not the elements of shape {result.shape}")
    return result


def _transpose(types: Sequence[TensorType], attributes: Mapping[str, Any]) -> TensorType:
    order = attributes["permutation"]
    known = sorted(order) == list(range(types[0].rank))
    expect(known, f"permutation: {order} does not name the axes of {types[0]}")
    return TensorType(types[0].dtype, tuple(types[0].shape[axis] for axis in order))


def _broadcast(types: Sequence[TensorType], attributes: Mapping[str, Any]) -> TensorType:
    shape, given = attributes["shape"], types[0].shape
    behind = shape[max(0, len(shape) - len(given)) :]
    fits = len(given) <= len(shape) and all(
        size in {1, wanted} for size, wanted in zip(given, behind, strict=True)
    )
    expect(fits, f"{types[0]} does not broadcast to shape {shape}")
    return TensorType(types[0].dtype, shape)


def _slice(types: Sequence[TensorType], attributes: Mapping[str, Any]) -> TensorType:
    shape = types[0].shape
    starts, sizes, steps = (attributes[name] for name in ("starts", "sizes", "steps"))
    expect(
        len(starts) == len(sizes) == len(steps) == len(shape),
        f"starts, sizes and steps are not of {len(shape)} axes",
    )
    for axis, (start, size, step) in enumerate(zip(starts, sizes, steps, strict=True)):
        last = start + max(size - 1, 0) * step
        inside = size == 0 or (0 <= start < shape[axis] and 0 <= last < shape[axis])
        expect(step != 0 and size >= 0, f"axis {axis} has size {size} and step {step}")
        expect(inside, f"axis {axis}: elements {start} to {last} are not in 0..{shape[axis] - 1}")
    return TensorType(types[0].dtype, sizes)


def _slice_run(values: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    parts = []
    for start, size, step in zip(
        attributes["starts"], attributes["sizes"], attributes["steps"], strict=True
    ):
        end = start + size * step
        parts.append(slice(start, None if end < 0 else end, step) if size else slice(0, 0))
    return values[0][tuple(parts)]


def _concat(types: Sequence[TensorType], attributes: Mapping[str, Any]) -> TensorType:
    axis, first = attributes["axis"], types[0]
    kind = same_types(types, TYPES)
    expect(0 <= axis < first.rank, f"axis {axis} is not in 0..{first.rank - 1}")
    for other in types[1:]:
        alike = other.rank == first.rank and all(
            one == two or place == axis
            for place, (one, two) in enumerate(zip(first.shape, other.shape, strict=True))
        )
        expect(alike, f"{first} and {other} differ in another axis than {axis}")
    shape = list(first.shape)
    shape[axis] = sum(each.shape[axis] for each in types)
    return TensorType(kind, tuple(shape))


def _pad(types: Sequence[TensorType], attributes: Mapping[str, Any]) -> TensorType:
    source, before, after = types[0], attributes["before"], attributes["after"]
    kind = same_types(types, TYPES)
    expect(types[1].rank == 0, f"its value is no scalar but {types[1]}")
    expect(
        len(before) == len(after) == source.rank and min((*before, *after, 0)) >= 0,
        f"before {before} and after {after} are no sizes of {source.rank} axes",
    )
    sizes = zip(before, source.shape, after, strict=True)
    return TensorType(kind, tuple(map(sum, sizes)))


def _pad_run(values: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    width = tuple(zip(attributes["before"], attributes["after"], strict=True))
    return np.pad(values[0], width, constant_values=values[1]) if width else values[0]


def _gather(types: Sequence[TensorType], attributes: Mapping[str, Any]) -> TensorType:
    data, indices = types
    axis = normalized_axis(attributes["axis"], data.rank)
    expect(indices.dtype in {"int32", "int64"}, f"its indices are {indices.dtype}")
    shape = data.shape[:axis] + indices.shape + data.shape[axis + 1 :]
    return TensorType(data.dtype, shape)


def _scatter(types: Sequence[TensorType], attributes: Mapping[str, Any]) -> TensorType:
    data, indices, updates = types
    same_types((data, updates), TYPES)
    expect(indices.dtype in {"int32", "int64"}, f"its indices are {indices.dtype}")
    expect(attributes["by"] in _SCATTERED, f"by: {attributes['by']!r} is unknown")
    expect(indices.rank > 0, "its indices are a scalar")
    depth = indices.shape[-1]
    expect(depth <= data.rank, f"{indices} index more axes than {data} has")
    wanted = indices.shape[:-1] + data.shape[depth:]
    expect(updates.shape == wanted, f"its updates are {updates}, not of shape {wanted}")
    return data


def _cache(types: Sequence[TensorType], attributes: Mapping[str, Any]) -> TensorType:
    held, new = types
    same_types(types, FLOATS)
    expect(held.rank == new.rank == 2, f"{held} and {new} are not rows of two axes")
    expect(held.shape[1] == new.shape[1], f"rows of {new} are not as long as those of {held}")
    first, last = attributes["first"], attributes["first"] + new.shape[0]
    expect(first >= 0 and last <= held.shape[0], f"rows {first} to {last - 1} are not in {held}")
    return held


def _cache_run(values: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    result, first = values[0].copy(), attributes["first"]
    result[first : first + len(values[1])] = values[1]
    return result


_SCATTERED: Final = {
    "none": None,
    "add": np.add,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
}


def _scatter_run(values: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    result, indices, updates = values[0].copy(), values[1], values[2]
    place = tuple(np.moveaxis(indices, -1, 0))
    combine = _SCATTERED[attributes["by"]]
    if combine is None:
        result[place] = updates
    else:
        combine.at(result, place, updates)
    return result


LAYOUT: Final = (
    Operator(
        name="reshape",
        doc="The elements of a in the same order, in another shape.",
        attributes={"shape": Kind.INTS},
        infer=_reshape,
        compute=lambda values, attributes: values[0].reshape(attributes["shape"]),
        reach=Reach.VIEW,
        bound=min,
        idle=always,
    ),
    Operator(
        name="transpose",
        doc="The axes of a in another order.",
        attributes={"permutation": Kind.INTS},
        infer=_transpose,
        compute=lambda values, attributes: values[0].transpose(attributes["permutation"]),
        reach=Reach.VIEW,
        bound=min,
        idle=lambda a, result: a["permutation"] == tuple(range(result.rank)),
    ),
    Operator(
        name="broadcast",
        doc="a repeated along axes of size 1 and new first axes.",
        attributes={"shape": Kind.INTS},
        infer=_broadcast,
        compute=lambda values, attributes: np.broadcast_to(values[0], attributes["shape"]),
        reach=Reach.VIEW,
        bound=min,
        idle=always,
    ),
    Operator(
        name="slice",
        doc="Element `starts` + i * `steps` of each axis, i below `sizes`.",
        attributes={"starts": Kind.INTS, "sizes": Kind.INTS, "steps": Kind.INTS},
        infer=_slice,
        compute=_slice_run,
        reach=Reach.VIEW,
        bound=min,
        idle=lambda a, _: min(a["steps"], default=1) > 0,
    ),
    Operator(
        name="concat",
        doc="All operands, one behind the other along an axis.",
        most=None,
        attributes={"axis": Kind.INT},
        infer=_concat,
        compute=lambda values, attributes: np.concatenate(values, attributes["axis"]),
        reach=Reach.COPY,
        bound=min,
        idle=always,  # The result of several operands that have elements is larger.
        host="it puts tensors together",
    ),
    Operator(
        name="pad",
        doc="a with the scalar b `before` and `after` it along each axis.",
        least=2,
        most=2,
        attributes={"before": Kind.INTS, "after": Kind.INTS},
        infer=_pad,
        compute=_pad_run,
        reach=Reach.COPY,
        idle=always,
        host="it puts tensors together",
    ),
    Operator(
        name="gather",
        doc="The elements of a at places b of an axis; negative places count from the end.",
        least=2,
        most=2,
        attributes={"axis": Kind.INT},
        infer=_gather,
        compute=lambda values, attributes: np.take(values[0], values[1], attributes["axis"]),
        reach=Reach.VIEW,
        bound=min,
        host="it looks up rows of a table",
    ),
    Operator(
        name="scatter",
        doc="a, with c at the places whose first indices are the rows of b; `by` combines both.",
        least=3,
        most=3,
        attributes={"by": Kind.TEXT},
        infer=_scatter,
        compute=_scatter_run,
        reach=Reach.ALL,
    ),
    Operator(
        name="cache",
        doc="a, whose rows from `first` on are those of b: rows that are appended to a cache.",
        least=2,
        most=2,
        attributes={"first": Kind.INT},
        infer=_cache,
        compute=_cache_run,
        reach=Reach.COPY,
        host="it puts tensors together",
    ),
)
"""Operators that move elements."""
