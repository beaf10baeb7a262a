"""What a record declares is what its document has."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated

import pytest

from celosia.isa.documents.record import (
    Added,
    As,
    Hidden,
    Inline,
    Key,
    Named,
    Record,
    Sparse,
    members,
)


class Colour(Enum):
    """What is no value of JSON."""

    RED = "red"


@dataclass(frozen=True)
class Part:
    """Also a record without the class of one."""

    width: int
    depth: Sparse[int | None] = None


@dataclass(frozen=True)
class Whole(Record):
    """A record with all that can be said of a key."""

    first: int
    secret: Hidden[int]
    inner: Inline[Part]
    renamed: Annotated[int, Named("other")]
    text: Annotated[str, As(len)]
    newer: Added[int | None] = None
    rare: Sparse[int | None] = None
    empty: Annotated[Sparse[str], As(lambda text: text or None)] = ""
    parts: tuple[Part, ...] = ()
    table: dict[int, Colour] = field(default_factory=dict)

    @Key
    def twice(self) -> int:
        """A property."""
        return 2 * self.first

    @property
    def quiet(self) -> int:
        """One that is no key."""
        return 0


def whole(**more):
    return Whole(first=3, secret=9, inner=Part(7), renamed=5, text="four", **more)


PLAIN = {
    "first": 3,
    "width": 7,
    "other": 5,
    "text": 4,
    "newer": None,
    "parts": [],
    "table": {},
    "twice": 6,
}


def test_keys_are_what_is_declared_in_this_order():
    assert [*whole().document().items()] == [*PLAIN.items()]


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ({"rare": 0}, {"rare": 0}),
        ({"empty": "no"}, {"empty": "no"}),
        ({"newer": 1}, {"newer": 1}),
        ({"parts": (Part(1), Part(2, 3))}, {"parts": [{"width": 1}, {"width": 2, "depth": 3}]}),
        ({"table": {4: Colour.RED}}, {"table": {"4": "red"}}),
    ],
    ids=str,
)
def test_values_are_those_of_json(more, found):
    assert whole(**more).document() == PLAIN | found


def test_old_documents_need_what_is_neither_sparse_nor_added():
    required = {each.name for each in members(Whole) if each.required and not each.inline}
    assert required == PLAIN.keys() - {"newer", "width"}
