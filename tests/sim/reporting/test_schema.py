"""The JSON Schema of records: each type of a key, and what annotations change."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, Literal

import jsonschema
import pytest

from celosia.isa.documents.record import (
    Added,
    As,
    Count,
    Hidden,
    Inline,
    Key,
    Named,
    Record,
    Share,
    Sparse,
)
from celosia.sim.reporting.schema import Schemas, docs_of


class Color(StrEnum):
    """Two colors."""

    RED = "red"
    BLUE = "blue"


def text(number: int) -> str | None:
    return str(number) if number else None


@dataclass(frozen=True)
class Inner:
    """What is within."""

    size: Count
    """Bytes."""


@dataclass(frozen=True)
class Outer(Record):
    """What is around.

    More of it.
    """

    inner: Inner
    """A record."""
    beside: Inline[Inner]
    color: Color
    """An enumeration."""
    share: Share | None
    """From 0
    to 1."""
    names: Mapping[str, Sequence[float]]
    """A table."""
    number: Annotated[int, Named("word"), As(text)]
    """A number as a word."""
    kind: Literal["a", "b"] = "a"
    """One of two."""
    secret: Hidden[object] = None
    counts: Counter[str] = field(default_factory=Counter)
    """Numbers by name."""
    later: Added[bool] = True
    """A new key."""
    rare: Sparse[int | None] = None
    """Only sometimes."""

    @Key
    def both(self) -> Any:
        """Anything."""
        return None


OUTER = Outer(Inner(3), Inner(4), Color.BLUE, 0.5, {"x": (1.0, 2.0)}, 7)
DOCUMENT = {
    "inner": {"size": 3},
    "size": 4,
    "color": "blue",
    "share": 0.5,
    "names": {"x": [1.0, 2.0]},
    "word": "7",
    "kind": "a",
    "counts": {},
    "later": True,
    "both": None,
}


def schema():
    schemas = Schemas()
    return {**schemas.document(Outer), "$defs": schemas.found}


def test_a_record_is_what_it_declares():
    assert OUTER.document() == DOCUMENT


def test_the_schema_says_so():
    found = schema()
    assert found["properties"] == {
        "inner": {"$ref": "#/$defs/Inner", "description": "A record."},
        "size": {"type": "integer", "minimum": 0, "description": "Bytes."},
        "color": {"enum": ["red", "blue"], "description": "An enumeration."},
        "share": {
            "type": ["number", "null"],
            "minimum": 0,
            "maximum": 1,
            "description": "From 0 to 1.",
        },
        "names": {
            "type": "object",
            "additionalProperties": {"type": "array", "items": {"type": "number"}},
            "description": "A table.",
        },
        "word": {"type": ["string", "null"], "description": "A number as a word."},
        "kind": {"enum": ["a", "b"], "description": "One of two."},
        "counts": {
            "type": "object",
            "additionalProperties": {"type": "integer"},
            "description": "Numbers by name.",
        },
        "later": {"type": "boolean", "description": "A new key."},
        "rare": {"type": ["integer", "null"], "description": "Only sometimes."},
        "both": {"description": "Anything."},
    }
    assert found["description"] == "What is around."
    assert set(found["properties"]) - set(found["required"]) == {"later", "rare"}


@pytest.mark.parametrize(
    ("key", "value"),
    [("size", -1), ("share", 2), ("color", "green"), ("word", 7), ("other", 1), ("inner", {})],
)
def test_the_schema_refuses_what_is_no_such_record(key, value):
    validator = jsonschema.Draft202012Validator(schema())
    validator.validate(DOCUMENT)
    assert not validator.is_valid({**DOCUMENT, key: value})


def test_what_no_document_has_and_two_of_a_name_are_refused():
    with pytest.raises(TypeError, match="is in no document"):
        Schemas().of(bytes)
    other = dataclass(type("Inner", (), {"__annotations__": {"size": int}}))
    schemas = Schemas()
    schemas.of(Inner)
    with pytest.raises(TypeError, match="two records are called Inner"):
        schemas.of(other)


def test_a_record_with_more_keys_is_one_of_the_same_document():
    @dataclass(frozen=True)
    class More(Inner):
        """More."""

        name: str
        """A name."""

    found = Schemas().document(Inner | More)
    assert found["properties"].keys() == {"size", "name"}
    assert found["required"] == ["size"]


def test_meanings_are_the_docstrings():
    assert docs_of(Inner) == {"size": "Bytes."}
    assert docs_of(Outer)["both"] == "Anything."
