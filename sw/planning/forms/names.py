"""The names that a part of a plan says: of operators, and of rings."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

__all__ = ["names_in"]


def names_in(value: Any) -> Iterator[str]:
    """All strings in `value`, a part of a plan, which are names but for a few."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for each in value:
            yield from names_in(each)
    elif is_dataclass(value):
        for field in fields(value):
            yield from names_in(getattr(value, field.name))
