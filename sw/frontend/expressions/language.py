"""The language of tensor expressions: tensors by name, and what each element of one is.

a, b = placeholder("a", (4, 128, 64)), placeholder("b", (4, 64, 96))
k = reduce_axis(64)
c = compute("c", (4, 128, 96), lambda n, i, j: total(a[n, i, k] * b[n, k, j], k))

Elements are integers, and what is computed of them is exact: `compute` raises `ExpressionError`
where a number might not fit its type.  Names are those of TVM (Chen et al., OSDI 2018, section 4.1)
where they mean the same.
"""

from collections.abc import Callable, Sequence
from inspect import Parameter, signature
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from celosia.isa.functions.table import ACTIVATIONS
from celosia.sw.frontend.expressions.checks import check_computed, check_name, check_shape
from celosia.sw.frontend.expressions.nodes import (
    Apply,
    Axis,
    ExpressionError,
    Tensor,
    Total,
    integer,
)

__all__ = [
    "activation",
    "compute",
    "constant",
    "placeholder",
    "reduce_axis",
    "requantize",
    "total",
]

_KINDS: Final = ("int8", "uint8", "int16", "int32")


def placeholder(
    name: str,
    shape: Sequence[int],
    dtype: str = "int8",
    *,
    low: int | None = None,
    high: int | None = None,
) -> Tensor:
    """A tensor that is given when the operator runs: int8, uint8, int16 or int32.

    Its elements are all numbers of the type, or from `low` to `high`, both included: a call with
    others is refused.  Raises `ExpressionError`.
    """
    check_name(name)
    sizes = check_shape(name, shape)
    least, most = _range(name, dtype)
    low, high = least if low is None else low, most if high is None else high
    if not least <= low <= high <= most:
        raise ExpressionError(
            f"{name}: {low:,}..{high:,} is no range of {dtype}, which has {least:,}..{most:,}"
        )
    return Tensor(name, sizes, dtype, low=low, high=high)


def constant(name: str, value: ArrayLike) -> Tensor:
    """A tensor that is known: an array of int8, uint8, int16 or int32.  Raises `ExpressionError`.

    What is computed of constants alone is computed before the operator runs.
    """
    check_name(name)
    array = np.array(value)
    _range(name, str(array.dtype))
    sizes = check_shape(name, array.shape)
    low, high = int(array.min()), int(array.max())
    return Tensor(name, sizes, str(array.dtype), low=low, high=high, value=array)


def reduce_axis(extent: int, name: str = "k") -> Axis:
    """What a `total` runs over: 0 to `extent` - 1.  Raises `ExpressionError`."""
    check_name(name)
    (size,) = check_shape(name, (extent,))
    return Axis(name, size, reduced=True)


def compute(
    name: str, shape: Sequence[int], element: Callable[..., Any], dtype: str = "int32"
) -> Tensor:
    """The tensor whose element at i, j, ... is ``element(i, j, ...)``.

    `element` takes an axis for each of `shape`, and returns an expression of elements of tensors
    (``a[i + 2 * k, j]``; indices are sums of axes times integers), integers, comparisons of axes
    (``k <= i`` is 1 or 0), their sums and products, and `total`.  `requantize` or `activation` may
    be around all of it.

    Raises `ExpressionError` for ranks that do not fit, indices that leave a tensor, results that
    may not fit `dtype`, and two tensors of one name.
    """
    check_name(name)
    sizes = check_shape(name, shape)
    _range(name, dtype)
    if not callable(element):
        raise ExpressionError(f"{name}: its element {element!r} is no function of axes")
    taken = list(signature(element).parameters.values())
    fixed = all(each.kind is not Parameter.VAR_POSITIONAL for each in taken)
    if fixed and len(taken) != len(sizes):
        raise ExpressionError(
            f"{name}: its element is a function of {len(taken)} axes, its shape "
            f"{'x'.join(map(str, sizes))} has {len(sizes)}"
        )
    names = [each.name for each in taken] if fixed else [f"i{at}" for at in range(len(sizes))]
    axes = tuple(Axis(*each) for each in zip(names, sizes, strict=True))
    try:
        body = integer("its element", element(*axes))
    except ExpressionError as error:
        raise ExpressionError(f"{name}: {error}") from None
    low, high = check_computed(name, axes, body, _range(name, dtype), dtype)
    return Tensor(name, sizes, dtype, low=low, high=high, axes=axes, body=body)


def total(body: Any, *axes: Axis) -> Total:
    """The sum of `body` over all of these axes of `reduce_axis`.  Raises `ExpressionError`."""
    if not axes or not all(isinstance(axis, Axis) and axis.reduced for axis in axes):
        raise ExpressionError("total: name the axes of reduce_axis that the sum runs over")
    if len({id(axis) for axis in axes}) < len(axes):
        raise ExpressionError(f"total: an axis is named twice, of {', '.join(map(str, axes))}")
    return Total(integer("total", body), axes)


def requantize(x: Any, scale: float, *, zero_point: int = 0, relu: bool = False) -> Apply:
    """`x` times a float32, rounded to even, saturated to int8, uint8 or int16 (REQUANTIZE).

    With `relu`, what is below 0 becomes 0; `zero_point` is added to a uint8.
    """
    _finite("requantize", scale)
    body = integer("requantize", x)
    return Apply("requantize", body, scale=scale, zero_point=zero_point, relu=relu)


def activation(curve: str, x: Any, scale: float, out_scale: float) -> Apply:
    """A curve of `x`, one of the numerics' activations (docs/numerics.md).

    `scale` makes int16 with the curve's fraction bits of `x`, `out_scale` the result of what the
    curve makes of that.  Raises `ExpressionError` for another curve.
    """
    if curve not in ACTIVATIONS:
        raise ExpressionError(f"activation: {curve!r} is none of {', '.join(ACTIVATIONS)}")
    for each in (scale, out_scale):
        _finite(curve, each)
    return Apply(curve, integer(curve, x), scale=scale, out_scale=out_scale)


def _finite(what: str, scale: float) -> None:
    with np.errstate(over="ignore"):
        if not isinstance(scale, int | float) or not np.isfinite(np.float32(scale)):
            raise ExpressionError(f"{what}: scale {scale!r} is not a finite float32")


def _range(name: str, dtype: str) -> tuple[int, int]:
    if dtype not in _KINDS:
        raise ExpressionError(f"{name}: {dtype} is none of {', '.join(_KINDS)}")
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)
