"""The names that a part of a plan says: of operators, and of rings."""

from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

from celosia.sw.planning.forms.plan import Plan

__all__ = ["names_in", "rings_in"]

_NAMELESS: Final = (int, float, bool, NoneType, ...)


def names_in(value: Any) -> list[str]:
    """All names in `value`, a part of a plan: its strings, but for words of a fixed set."""
    if isinstance(value, str):
        return [value]
    kind = type(value)
    parts = value if kind is tuple else (getattr(value, name) for name in _fields(kind))
    return [name for part in parts for name in names_in(part)]


def rings_in(value: Any, plan: Plan) -> list[str]:
    """The rings of `plan` that a part of it names, in the order of the alphabet."""
    return sorted({name for name in names_in(value) if name in plan.rings})


@cache
def _fields(kind: type) -> tuple[str, ...]:
    """The fields of a part of a plan that may hold names; none of what is no dataclass."""
    if not is_dataclass(kind):
        return ()
    hints = get_type_hints(kind)
    return tuple(field.name for field in fields(kind) if _holds_names(hints[field.name]))


def _holds_names(hint: Any) -> bool:
    """Whether a field of the type `hint` may hold names: searches look through very many plans."""
    if get_origin(hint) is Literal:
        return False
    return any(map(_holds_names, get_args(hint))) if get_args(hint) else hint not in _NAMELESS
