"""The names that a part of a plan says: of operators, and of rings."""

from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from celosia.sw.planning.forms.plan import Plan

__all__ = ["names_in", "rings_in"]


def names_in(value: Any) -> list[str]:
    """All strings in `value`, a part of a plan, which are names but for a few."""
    found: list[str] = []
    _gather(value, found)
    return found


def rings_in(value: Any, plan: Plan) -> list[str]:
    """The rings of `plan` that a part of it names, in the order of the alphabet."""
    return sorted({name for name in names_in(value) if name in plan.rings})


def _gather(value: Any, found: list[str]) -> None:
    if isinstance(value, str):
        found.append(value)
    elif isinstance(value, tuple):
        for each in value:
            _gather(each, found)
    else:
        for name in _fields(type(value)):
            _gather(getattr(value, name), found)


@cache
def _fields(kind: type) -> tuple[str, ...]:
    """The fields of a part of a plan; none of what is no dataclass."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ()
