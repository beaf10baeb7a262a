"""Resize of ONNX with known sizes: along each axis a product with known weights, or a choice.

Every result is a sum of elements near one place of the operand, weighed by how far they are: by a
tent, or by a piecewise cubic.  Elements beyond an end are that end's, or do not count.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Final

import numpy as np
from numpy.typing import NDArray

from celosia.sw.frontend.importer.handlers.registry import Handlers
from celosia.sw.frontend.importer.source.call import Call
from celosia.sw.frontend.importer.source.problems import Refusal
from celosia.sw.frontend.nn.operators.operator import expect, normalized_axis

__all__ = ["RESIZE"]

RESIZE: Final = Handlers()

_Reals = NDArray[np.float64]

_ROUNDED: Final[dict[str, Callable[[_Reals], _Reals]]] = {
    "round_prefer_floor": lambda x: np.ceil(x - 0.5),
    "round_prefer_ceil": lambda x: np.floor(x + 0.5),
    "floor": np.floor,
    "ceil": np.ceil,
}
_WIDTH: Final = {"linear": 1, "cubic": 2}
"""How far from a place elements count, if nothing becomes smaller."""
_POLICIES: Final = {"not_larger": min, "not_smaller": max}
_LARGEST: Final = 1 << 14
"""The largest size of an axis that is resized."""


@dataclass(frozen=True)
class _Axis:
    """An axis that gets another size."""

    axis: int
    size: int
    new: int
    scale: float

    def places(self, mode: str) -> _Reals:
        """Where each element of the result is in the operand."""
        x = np.arange(self.new, dtype=np.float64)
        match mode:
            case "half_pixel":
                return (x + 0.5) / self.scale - 0.5
            case "half_pixel_symmetric":
                adjusted = self.new / (self.scale * self.size)
                return self.size / 2 * (1 - adjusted) + (x + 0.5) / self.scale - 0.5
            case "pytorch_half_pixel":
                return (x + 0.5) / self.scale - 0.5 if self.new > 1 else 0 * x
            case "align_corners":
                # The size before it is rounded down decides where the last element is.
                last = self.scale * self.size - 1
                return x * (self.size - 1) / last if last else 0 * x
            case "asymmetric":
                return x / self.scale
            case _:
                raise Refusal(f"its coordinate_transformation_mode {mode} is not supported")


@RESIZE.of("Resize", but="sizes that the model computes, parts that are cut out (`roi`)")
def _resize(call: Call) -> str:
    where = call.attribute("coordinate_transformation_mode", "half_pixel")
    how = call.attribute("mode", "nearest")
    rounding = call.attribute("nearest_mode", "round_prefer_floor")
    factor = call.attribute("cubic_coeff_a", -0.75)
    outside = bool(call.attribute("exclude_outside", 0))
    smooth = bool(call.attribute("antialias", 0))
    call.ignore("extrapolation_value")  # Only parts that are cut out have an outside.
    call.ignore_operands(1)
    expect(how in {"nearest", *_WIDTH}, f"its mode {how} is unknown")
    expect(rounding in _ROUNDED, f"its nearest_mode {rounding} is unknown")
    x = call[0]
    for axis in _axes(call):
        places = axis.places(where)
        if how == "nearest":
            near = np.clip(_ROUNDED[rounding](places), 0, axis.size - 1)
            x = call.op("gather", x, call.indices(near.astype(np.int64)), axis=axis.axis)
            continue
        kernel = _tent if how == "linear" else _cubic(factor)
        squeezed = min(axis.scale, 1.0) if smooth else 1.0
        weights = _weights(axis, places, kernel, _WIDTH[how], squeezed, outside=outside)
        x = _product(call, x, axis.axis, weights)
    return x


def _axes(call: Call) -> list[_Axis]:
    """The axes that get another size, or other places."""
    shape = call.type(0).shape
    named = call.attribute("axes", None)
    axes = (
        range(len(shape))
        if named is None
        else [normalized_axis(axis, len(shape)) for axis in named]
    )
    policy = call.attribute("keep_aspect_ratio_policy", "stretch")
    sizes = None if call.optional(3) is None else call.ints(3, "sizes")
    scales = None if call.optional(2) is None else call.known(2, "scales").reshape(-1)
    expect(len(set(axes)) == len(axes), f"its axes {named} are not different ones")
    counts = [len(each) for each in (sizes, scales) if each is not None and len(each)]
    expect(counts == [len(axes)], f"it has not one size or scale for each of {len(axes)} axes")
    expect(all(shape[axis] for axis in axes), f"{call.type(0)} has nothing to resize")
    if not sizes:
        assert scales is not None
        new = [floor(shape[axis] * float(scale)) for axis, scale in zip(axes, scales, strict=True)]
        used = [float(scale) for scale in scales]
    elif policy == "stretch":
        new, used = list(sizes), [n / shape[axis] for n, axis in zip(sizes, axes, strict=True)]
    else:
        expect(policy in _POLICIES, f"its keep_aspect_ratio_policy {policy} is unknown")
        one = _POLICIES[policy](n / shape[axis] for n, axis in zip(sizes, axes, strict=True))
        new, used = [floor(one * shape[axis] + 0.5) for axis in axes], [one] * len(axes)
    expect(
        0 < min(new, default=1) <= max(new, default=1) <= _LARGEST,
        f"its result has the sizes {tuple(new)}: each is 1 to {_LARGEST}",
    )
    found = [_Axis(*each) for each in zip(axes, (shape[a] for a in axes), new, used, strict=True)]
    return [each for each in found if each.new != each.size or each.scale != 1]


def _tent(t: _Reals) -> _Reals:
    return np.clip(1 - np.abs(t), 0, None)


def _cubic(a: float) -> Callable[[_Reals], _Reals]:
    def kernel(t: _Reals) -> _Reals:
        t = np.abs(t)
        near = ((a + 2) * t - (a + 3)) * t * t + 1
        far = ((a * t - 5 * a) * t + 8 * a) * t - 4 * a
        return np.where(t <= 1, near, np.where(t < 2, far, 0))

    return kernel


def _weights(
    axis: _Axis,
    places: _Reals,
    kernel: Callable[[_Reals], _Reals],
    width: int,
    squeezed: float,
    *,
    outside: bool,
) -> _Reals:
    """What each result takes of each element: an array (elements, results)."""
    reach = ceil(width / squeezed)
    weights = np.zeros((axis.size, axis.new))
    for offset in range(-reach, reach + 1):
        element = np.floor(places) + offset
        share = kernel((element - places) * squeezed)
        if outside:
            share = np.where((element >= 0) & (element < axis.size), share, 0)
        inside = np.clip(element, 0, axis.size - 1).astype(np.int64)
        np.add.at(weights, (inside, np.arange(axis.new)), share)
    return weights / weights.sum(axis=0)


def _product(call: Call, x: str, axis: int, weights: _Reals) -> str:
    kind = call.build.type(x)
    expect(kind.is_float, f"{kind} is no float to interpolate")
    order: Sequence[int] = [*(a for a in range(kind.rank) if a != axis), axis]
    back = tuple(int(place) for place in np.argsort(order))
    rows = call.op("transpose", x, permutation=tuple(order))
    matrix = call.build.constant(weights.astype(kind.dtype))
    return call.op("transpose", call.op("matmul", rows, matrix), permutation=back)
