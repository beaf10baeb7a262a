"""Operators of a graph as attributes and operands, field by field.

A field that is a view becomes an operand, whose role is the path of the field; all others become
attributes.  So an operator's new part needs no more than a place in `_PARTS`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from itertools import count
from types import NoneType
from typing import Any, Final, TypeVar, get_args, get_type_hints

import numpy as np

from celosia.sw.ir.graph import (
    Activation,
    AddResidual,
    DeferredSoftmax,
    DivideBySums,
    Mask,
    Normalized,
    Requantize,
    Softmax,
    Sums,
    View,
)
from celosia.sw.mlir.operation import Attribute, Operation

__all__ = ["build", "described", "fail", "typed"]

_T = TypeVar("_T")

_PARTS: Final = (
    Sums,
    Requantize,
    Activation,
    AddResidual,
    Softmax,
    DeferredSoftmax,
    DivideBySums,
    Normalized,
    Mask,
)
_KINDS: Final = {kind.__name__: kind for kind in _PARTS}
"""What operators are made of."""
_LEFT_OUT: Final = ("first_row", "moving", "stored", "dithered")
"""Fields that most graphs have no use for."""


def described(value: object, path: str, views: dict[str, View]) -> Iterator[tuple[str, Attribute]]:
    """The fields of an operator or a part of one, but for views: these join `views`.

    Lists without anything but views, and what is 0 or false of `_LEFT_OUT`, are left out.
    """
    assert is_dataclass(value)
    for field in fields(value):
        found = _attribute(getattr(value, field.name), f"{path}{field.name}", views)
        left_out = found == () or (field.name in _LEFT_OUT and not found)
        if found is not None and not left_out:
            yield field.name, found


def _attribute(value: object, path: str, views: dict[str, View]) -> Attribute | None:
    match value:
        case None:
            return None
        case View():
            views[path] = value
            return None
        case np.generic():
            return value.item()
        case bool() | str() | int() | float():
            return value
        case tuple():
            parts = (_attribute(each, f"{path}.{i}", views) for i, each in enumerate(value))
            return tuple(part for part in parts if part is not None)
        case _:
            return {"kind": type(value).__name__, **dict(described(value, f"{path}.", views))}


def build(
    operation: Operation, kind: type, values: Mapping[str, Attribute], views: dict[str, View]
) -> Any:
    """The operator of class `kind` with these fields; takes the roles that it uses from `views`.

    Raises `ValueError` that names the place of `operation` and the field that is wrong.
    """
    return _Builder(operation, views).made(kind, values, "")


class _Builder:
    """Builds an operator from attributes and operands; takes the roles that it uses away."""

    def __init__(self, operation: Operation, views: dict[str, View]):
        self._operation = operation
        self._views = views

    def made(self, kind: type, values: Mapping[str, Attribute], path: str) -> Any:
        """A value of this class, whose fields have roles that begin with `path`."""
        hints, found = get_type_hints(kind), {}
        known = [field.name for field in fields(kind)]
        for name in values:
            if name not in known:
                raise fail(self._operation, f"{path}{name} is no field of {kind.__name__}")
        for field in fields(kind):
            place = f"{path}{field.name}"
            if place in self._views:
                found[field.name] = self._views.pop(place)
                given: object = found[field.name]
            elif f"{place}.0" in self._views and _is_views(hints[field.name]):
                given = found[field.name] = tuple(self._views_of(place))
            elif field.name in values:
                given = found[field.name] = self._value(values[field.name], place)
            elif _is_needed(field) and NoneType not in get_args(hints[field.name]):
                raise fail(self._operation, f"{place} is missing")
            else:
                continue
            if not _fits(given, hints[field.name]):
                raise fail(self._operation, f"{place}: {given} is not of its type")
        return kind(**found)

    def _views_of(self, place: str) -> Iterator[View]:
        """The views of a list, whose roles are `place` with a number each."""
        for number in count():
            if f"{place}.{number}" not in self._views:
                return
            yield self._views.pop(f"{place}.{number}")

    def _value(self, value: Attribute, path: str) -> object:
        match value:
            case Mapping():
                kind = _KINDS.get(str(value.get("kind")))
                if kind is None:
                    known = ", ".join(_KINDS)
                    raise fail(self._operation, f"{path}: its kind is none of {known}")
                rest = {name: each for name, each in value.items() if name != "kind"}
                return self.made(kind, rest, f"{path}.")
            case tuple():
                return tuple(self._value(each, f"{path}.{i}") for i, each in enumerate(value))
            case _:
                return value


def _is_needed(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _is_views(hint: Any) -> bool:
    return getattr(hint, "__origin__", None) is tuple and get_args(hint)[0] is View


def _fits(value: object, hint: Any) -> bool:
    """Whether a field of this annotation can have this value."""
    options = get_args(hint) if not isinstance(hint, type) else (hint,)
    if getattr(hint, "__origin__", None) is tuple:
        return isinstance(value, tuple) and all(_fits(each, options[0]) for each in value)
    if isinstance(value, bool):
        return bool in options
    return isinstance(value, tuple(each for each in options if isinstance(each, type)))


def typed(operation: Operation, values: Mapping[str, Attribute], name: str, kind: type[_T]) -> _T:
    """The attribute `name`, which must be of this type; raises `ValueError` otherwise."""
    value = values.get(name)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        shown = "missing" if value is None else f"{value!r}, no {kind.__name__}"
        raise fail(operation, f"{name} is {shown}")
    return value


def fail(operation: Operation, text: str) -> ValueError:
    """An error at the place of `operation`."""
    return ValueError(f"{operation.place}: {operation.name}: {text}")
