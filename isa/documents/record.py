"""Records as objects of JSON: what a dataclass declares is what its document has, and its schema.

A key is a field, or a property that is marked as a `Key`.  Annotations say where that is not all:
`Hidden` fields are in no document, those of an `Inline` record stand beside its owner's, `Named`
gives another name, and `As` another value.  `Rule` says what else a schema checks.
"""

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AnySet
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Annotated, Any, Final, TypeAlias, TypeVar, get_type_hints

__all__ = [
    "Added",
    "As",
    "Count",
    "Hidden",
    "Inline",
    "Key",
    "Member",
    "Named",
    "Record",
    "Rule",
    "Share",
    "Sparse",
    "members",
]

_T = TypeVar("_T")


class Key(property):
    """A property that is a key of its record's document."""


@dataclass(frozen=True)
class Named:
    """The key's name, where it is not the field's."""

    name: str


@dataclass(frozen=True)
class As:
    """What makes the value in the document; its annotation is the type."""

    make: Callable[[Any], Any]


class Rule:
    """Keywords of JSON Schema."""

    def __init__(self, **keywords: Any):
        self.keywords = keywords


_HIDDEN: Final = object()
_INLINE: Final = object()
_ADDED: Final = object()
_SPARSE: Final = object()

Hidden: TypeAlias = Annotated[_T, _HIDDEN]
"""In no document."""
Inline: TypeAlias = Annotated[_T, _INLINE]
"""A record whose keys stand among those of its owner."""
Added: TypeAlias = Annotated[_T, _ADDED]
"""Came later: documents that were written before have no such key."""
Sparse: TypeAlias = Annotated[_T, _SPARSE]
"""Not there if it is None."""
Count: TypeAlias = Annotated[int, Rule(minimum=0)]
Share: TypeAlias = Annotated[float, Rule(minimum=0, maximum=1)]


@dataclass(frozen=True)
class Member:
    """A key of a record, or a record whose keys are inline."""

    attribute: str
    hint: Any
    marks: tuple[Any, ...]

    @property
    def inline(self) -> bool:
        """Whether the keys are those of the value."""
        return any(mark is _INLINE for mark in self.marks)

    @property
    def sparse(self) -> bool:
        """Whether None is no key."""
        return any(mark is _SPARSE for mark in self.marks)

    @property
    def required(self) -> bool:
        """Whether every document has the key, old ones included."""
        return not self.sparse and not any(mark is _ADDED for mark in self.marks)

    @property
    def name(self) -> str:
        """The key."""
        names = (mark.name for mark in self.marks if isinstance(mark, Named))
        return next(names, self.attribute)

    @property
    def make(self) -> Callable[[Any], Any] | None:
        """What makes the value, if it is not the attribute's."""
        return next((mark.make for mark in self.marks if isinstance(mark, As)), None)


class Record:
    """A dataclass that is an object of JSON."""

    def document(self) -> dict[str, Any]:
        """The record as an object for JSON."""
        return dict(_items(self))


@cache
def members(record: type) -> tuple[Member, ...]:
    """The keys of a dataclass, in order: those of fields, then those of properties."""
    hints = get_type_hints(record, include_extras=True)
    found = [(field.name, hints[field.name]) for field in fields(record)]
    for owner in reversed(record.__mro__):
        for name, value in vars(owner).items():
            if isinstance(value, Key):
                found.append((name, get_type_hints(value.fget, include_extras=True)["return"]))
    marked = (Member(name, hint, getattr(hint, "__metadata__", ())) for name, hint in found)
    return tuple(each for each in marked if not any(mark is _HIDDEN for mark in each.marks))


def _items(record: Any) -> Iterator[tuple[str, Any]]:
    for member in members(type(record)):
        value = getattr(record, member.attribute)
        if member.make is not None:
            value = member.make(value)
        if member.inline:
            yield from _items(value)
        elif value is not None or not member.sparse:
            yield member.name, _plain(value)


def _plain(value: Any) -> Any:
    """`value` in the types of JSON."""
    if is_dataclass(value):
        return dict(_items(value))
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, tuple | list | AnySet | Iterator):
        return [_plain(each) for each in value]
    return value.value if isinstance(value, Enum) else value
