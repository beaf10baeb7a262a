"""Plans as TOML, which prints the same for equal plans and reads back as it was."""

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any, Final, TypeVar

from celosia.isa.foreign_file import parse_toml
from celosia.sw.mlir.records import KIND, made
from celosia.sw.planning.forms.plan import Plan

__all__ = ["entries", "parse_form", "parse_plan", "print_plan"]

_Form = TypeVar("_Form")

_COLUMNS: Final = 100
"""Lists of tables and lists that are longer than that take a line for each element."""
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_ESCAPED: Final = re.compile(r'[\x00-\x1f\x7f"\\]')


def print_plan(plan: Plan) -> str:
    """The text of `plan`."""
    return "".join(f"{line}\n" for line in _lines(plan))


def parse_plan(text: str) -> Plan:
    """The plan of a text.

    Raises `ValueError` that names line and column of what is no TOML, and the path of a field that
    is missing, unknown or of another type.
    """
    return parse_form(Plan, text, "plan")


def parse_form(kind: type[_Form], text: str, name: str) -> _Form:
    """The value of this dataclass in a text; `name` is what messages call it.

    Raises `ValueError` as `parse_plan` does.
    """
    return made(kind, parse_toml(text), name, {})


def _lines(plan: Plan) -> Iterator[str]:
    yield f"graph = {_value(plan.graph)}"
    yield f"machine = {_value(plan.machine)}"
    for field in fields(plan):
        if isinstance(field.default, str | int) and getattr(plan, field.name) != field.default:
            yield f"{field.name} = {_value(getattr(plan, field.name))}"
    for name, ring in plan.rings.items():
        yield ""
        yield f"[rings.{_key(name)}]"
        yield from entries(ring)
    for name, tables in (("stages", plan.stages), ("tactics", plan.tactics)):
        for table in tables:
            yield ""
            yield f"[[{name}]]"
            yield from entries(table)


def entries(value: Any) -> Iterator[str]:
    """The fields of a value, but for those that have their default."""
    if KIND in {field.name for field in fields(value)}:
        yield f"{KIND} = {_value(getattr(value, KIND))}"
    for field in fields(value):
        given = getattr(value, field.name)
        if field.name != KIND and given != field.default:
            yield f"{field.name} = {_value(given)}"


def _value(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case int():
            return str(value)
        case str():
            return '"' + _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", value) + '"'
        case tuple():
            line = f"[{', '.join(map(_value, value))}]"
            short = len(line) <= _COLUMNS or isinstance(value[0], str | int)
            return line if short else "[\n" + "".join(f"  {_value(v)},\n" for v in value) + "]"
        case _:
            assert is_dataclass(value)
            return f"{{{', '.join(entries(value))}}}"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _value(name)
