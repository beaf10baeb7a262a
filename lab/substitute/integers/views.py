"""Operators with other views: every view of an operator, wherever it stands in it."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from celosia.sw.ir.graph import Op, View

__all__ = ["with_views"]

_Op = TypeVar("_Op", bound=Op)


def with_views(op: _Op, change: Callable[[View], View]) -> _Op:
    """`op` with `change` of each of its views in place of it."""
    return _changed(op, change)


def _changed(value: Any, change: Callable[[View], View]) -> Any:
    if isinstance(value, View):
        return change(value)
    if isinstance(value, tuple):
        return tuple(_changed(each, change) for each in value)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    found = {field.name: getattr(value, field.name) for field in fields(value)}
    other = {name: _changed(each, change) for name, each in found.items()}
    return value if other == found else replace(value, **other)
