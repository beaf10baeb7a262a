"""What an expression has to keep: names, shapes, indices that stay inside, results that fit."""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from celosia.sw.frontend.expressions.nodes import (
    Access,
    Apply,
    Axis,
    Compare,
    Expression,
    ExpressionError,
    Tensor,
    Total,
    parts,
)
from celosia.sw.frontend.expressions.terms import Term, affine, axes_of, terms
from celosia.sw.ir.graphs.tensors import MAX_EXTENT

__all__ = ["check_computed", "check_name", "check_shape", "tensors_of"]

_INT32: Final = np.iinfo(np.int32)


def check_name(name: str) -> None:
    """Raise `ExpressionError` unless a name is a word: a letter, then letters, digits and _."""
    if not isinstance(name, str) or not name.isidentifier() or not name.isascii():
        raise ExpressionError(
            f"{name!r} is no name: it begins with a letter, and has letters, digits and _ only"
        )


def check_shape(name: str, shape: Sequence[int]) -> tuple[int, ...]:
    """The sizes of a tensor.  Raises `ExpressionError`."""
    try:
        sizes = tuple(each.__index__() for each in shape)
    except (AttributeError, TypeError):
        raise ExpressionError(f"{name}: its shape {shape!r} is no list of integers") from None
    if not sizes or not all(1 <= each <= MAX_EXTENT for each in sizes):
        raise ExpressionError(f"{name}: its sizes {sizes} are not all in 1..{MAX_EXTENT:,}")
    return sizes


def check_computed(
    name: str, axes: tuple[Axis, ...], body: Expression, kind: tuple[int, int], dtype: str
) -> tuple[int, int]:
    """The least and the largest element of a computed tensor.  Raises `ExpressionError`."""
    _check_names(name, body)
    try:
        whole, made = (body.x, body) if isinstance(body, Apply) else (body, None)
        _check_axes(axes, whole)
        _check_indices(whole)
        low, high = _interval(terms(whole))
    except ExpressionError as error:
        raise ExpressionError(f"{name}: {error}") from None
    if made is not None:
        return _check_made(name, made, (low, high), kind, dtype)
    least, most = kind
    if not least <= low <= high <= most:
        raise ExpressionError(
            f"{name}: its elements may be {low:,}..{high:,}, which do not fit {dtype}; requantize "
            "them, say low and high of what they are made of, or choose a wider type"
        )
    return low, high


def _check_made(
    name: str, made: Apply, argument: tuple[int, int], kind: tuple[int, int], dtype: str
) -> tuple[int, int]:
    """The range of what a function makes of numbers in a range."""
    low, high = argument
    if dtype == "int32":
        raise ExpressionError(f"{name}: {made.function} makes int8, uint8 or int16, not int32")
    if not _INT32.min <= low <= high <= _INT32.max:
        raise ExpressionError(
            f"{name}: {made.function} takes int32, and what it is applied to may be "
            f"{low:,}..{high:,}"
        )
    most = 255 if dtype == "uint8" else 0
    if not 0 <= made.zero_point <= most:
        raise ExpressionError(
            f"{name}: zero point {made.zero_point} of {dtype} is not in 0..{most}"
        )
    return (0, kind[1]) if made.relu else kind


def tensors_of(tensor: Tensor) -> list[Tensor]:
    """All tensors that one is made of, and it, each behind what it is made of."""
    found: dict[int, Tensor] = {}

    def visit(each: Tensor) -> None:
        if id(each) in found:
            return
        for part in parts(each.body) if each.body is not None else ():
            if isinstance(part, Access):
                visit(part.tensor)
        found[id(each)] = each

    visit(tensor)
    return list(found.values())


def _check_names(name: str, body: Expression) -> None:
    names: dict[str, Tensor] = {}
    accesses = (part for part in parts(body) if isinstance(part, Access))
    for tensor in (each for access in accesses for each in tensors_of(access.tensor)):
        if tensor.name == name or names.setdefault(tensor.name, tensor) is not tensor:
            raise ExpressionError(f"{name}: two tensors are called {tensor.name}")


def _check_axes(axes: tuple[Axis, ...], body: Expression) -> None:
    bound = _bound(body)
    for axis in axes_of(body):
        if axis in axes or axis in bound:
            continue
        where = "is not one that a total runs over" if axis.reduced else "is another tensor's"
        raise ExpressionError(f"axis {axis} {where}")
    _check_scopes(body, frozenset(axes))


def _check_scopes(body: Expression, known: frozenset[Axis]) -> None:
    """Every axis stands inside of its total, and no total runs over an axis of one around it."""
    match body:
        case Axis():
            if body not in known:
                raise ExpressionError(f"axis {body} stands outside of the total that runs over it")
            return
        case Total():
            for axis in body.axes:
                if axis in known:
                    raise ExpressionError(f"a total inside of another one runs over {axis}, too")
            known |= frozenset(body.axes)
    for each in _inner(body):
        _check_scopes(each, known)


def _inner(body: Expression) -> Iterable[Expression]:
    match body:
        case Access():
            return body.indices
        case Total():
            return (body.body,)
        case Apply():
            return (body.x,)
        case _:
            return [getattr(body, name) for name in ("a", "b") if hasattr(body, name)]


def _bound(body: Expression) -> set[Axis]:
    return {axis for part in parts(body) if isinstance(part, Total) for axis in part.axes}


def _check_indices(body: Expression) -> None:
    for part in parts(body):
        match part:
            case Access():
                for index, size in zip(part.indices, part.tensor.shape, strict=True):
                    found = affine(index)
                    if found.low < 0 or found.high >= size:
                        raise ExpressionError(
                            f"{part}: index {index} is {found.low}..{found.high}, not in "
                            f"0..{size - 1}"
                        )
            case Compare():
                for side in (part.a, part.b):
                    affine(side)


def _interval(found: Sequence[Term]) -> tuple[int, int]:
    """The least and the largest sum of terms, if all elements are independent."""
    low = high = 0
    for term in found:
        least = most = term.number
        for factor in term.factors:
            ends = (
                (0, 1) if isinstance(factor, Compare) else (factor.tensor.low, factor.tensor.high)
            )
            products = [x * y for x in (least, most) for y in ends]
            least, most = min(products), max(products)
        times = int(np.prod([axis.extent for axis in term.over], dtype=object)) if term.over else 1
        low, high = low + least * times, high + most * times
    return low, high
