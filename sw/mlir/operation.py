"""Operations of any dialect as values, and how they print in MLIR's generic syntax.

Types stay text: a dialect reads and writes those that it knows.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, isinf
from struct import pack
from typing import Final

__all__ = [
    "NOWHERE",
    "VALUE_NAME",
    "Attribute",
    "Lines",
    "Operation",
    "Place",
    "print_operation",
]

VALUE_NAME: Final = re.compile(r"[A-Za-z$._-][\w$.-]*", re.ASCII)
"""The names that values may have besides numbers."""

Attribute = bool | int | float | str | Sequence["Attribute"] | Mapping[str, "Attribute"]
"""A value that is known at compile time; integers print as i64, floats as f64, exactly."""


class Lines(tuple[str, ...]):
    """A list of strings that prints one a line."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a text, counted from 1."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"


NOWHERE: Final = Place(0, 0)
"""The place of operations that no text holds."""


@dataclass(frozen=True, kw_only=True)
class Operation:
    """An operation: names of values in and out, with their types, attributes and regions."""

    name: str
    """Dialect and operation, with a dot between."""
    results: tuple[str, ...] = ()
    """Names of values, without the percent sign."""
    result_types: tuple[str, ...] = ()
    operands: tuple[str, ...] = ()
    operand_types: tuple[str, ...] = ()
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    regions: tuple[tuple["Operation", ...], ...] = ()
    place: Place = field(default=NOWHERE, compare=False)


def print_operation(operation: Operation) -> str:
    """The text of `operation`, which ends with a line break; attributes are in order of names."""
    return "".join(f"{line}\n" for line in _lines(operation))


def _lines(operation: Operation) -> Iterator[str]:
    results = ", ".join(f"%{name}" for name in operation.results)
    operands = ", ".join(f"%{name}" for name in operation.operands)
    head = f"{results} = " if results else ""
    head += f"{_quoted(operation.name)}({operands})"
    for index, region in enumerate(operation.regions):
        yield head + (", {" if index else " ({")
        for inner in region:
            for line in _lines(inner):
                yield f"  {line}"
        head = "}"
    if operation.regions:
        head += ")"
    if operation.attributes:
        head += f" {_attribute(operation.attributes)}"
    types = ", ".join(operation.operand_types)
    outputs = ", ".join(operation.result_types)
    tail = outputs if len(operation.results) == 1 else f"({outputs})"
    yield from f"{head} : ({types}) -> {tail}".split("\n")


def _attribute(value: Attribute) -> str:
    match value:
        case bool():
            text = str(value).lower()
        case int():
            text = f"{value} : i64"
        case float():
            text = f"{_float(value)} : f64"
        case str():
            text = _quoted(value)
        case Mapping():
            entries = (f"{_key(name)} = {_attribute(value[name])}" for name in sorted(value))
            text = "{" + ", ".join(entries) + "}"
        case Lines():
            text = "[" + ",".join(f"\n  {_quoted(line)}" for line in value) + "\n]"
        case Sequence():
            text = "[" + ", ".join(map(_attribute, value)) + "]"
    return text


def _float(value: float) -> str:
    """A literal that reads back as the same number: MLIR wants a point, and bits of the others."""
    if not isfinite(value) or isinf(value):
        return f"0x{pack('>d', value).hex().upper()}"
    mantissa, exponent, power = repr(value).partition("e")
    return f"{mantissa}{'' if '.' in mantissa else '.0'}{exponent}{power}"


def _key(name: str) -> str:
    return name if name.isidentifier() and name.isascii() else _quoted(name)


def _quoted(text: str) -> str:
    """`text` as a string literal: what is neither printable nor ASCII as bytes of UTF-8."""
    plain = set(range(0x20, 0x7F)) - {ord('"'), ord("\\")}
    each = (chr(c) if c in plain else f"\\{c:02X}" for c in text.encode())
    return '"' + "".join(each) + '"'
