"""Plans as TOML, which prints the same for equal plans and reads back as it was."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Final, Literal, TypeVar, get_args, get_origin, get_type_hints

from celosia.isa.foreign_file import parse_toml
from celosia.sw.planning.forms.plan import Plan

__all__ = ["entries", "parse_form", "parse_plan", "print_plan"]

_Form = TypeVar("_Form")

_KIND: Final = "kind"
"""The field that says of which class a table is."""
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
    return _made(kind, parse_toml(text), name)


def _lines(plan: Plan) -> Iterator[str]:
    yield f"graph = {_value(plan.graph)}"
    yield f"machine = {_value(plan.machine)}"
    for field in fields(plan):
        if isinstance(field.default, str | bool) and getattr(plan, field.name) != field.default:
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
    if _KIND in {field.name for field in fields(value)}:
        yield f"{_KIND} = {_value(getattr(value, _KIND))}"
    for field in fields(value):
        given = getattr(value, field.name)
        if field.name != _KIND and given != field.default:
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


def _made(kind: Any, values: object, path: str) -> Any:
    """A value of this class from a table."""
    if not isinstance(values, dict):
        raise ValueError(f"{path}: a table is expected, not {values!r}")
    hints, known = get_type_hints(kind), {field.name: field for field in fields(kind)}
    for name in values:
        if name not in known:
            raise ValueError(f"{path}.{name}: there is no such field; there are {', '.join(known)}")
    for name, field in known.items():
        needed = field.default is MISSING and field.default_factory is MISSING
        if needed and name not in values:
            raise ValueError(f"{path}.{name} is missing")
    return kind(**{name: _read(hints[name], v, f"{path}.{name}") for name, v in values.items()})


def _read(hint: Any, value: object, path: str) -> object:
    """`value` as a field of this annotation has it."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        if not any(type(value) is type(each) and value == each for each in arguments):
            raise ValueError(f"{path}: {value!r} is none of {', '.join(map(repr, arguments))}")
        return value
    if origin is Mapping:
        if not isinstance(value, dict):
            raise ValueError(f"{path}: a table is expected, not {value!r}")
        return {name: _read(arguments[1], each, f"{path}.{name}") for name, each in value.items()}
    if origin is tuple:
        return _read_tuple(arguments, value, path)
    if origin is UnionType:
        return _read(_alternative(arguments, value, path), value, path)
    if is_dataclass(hint):
        return _made(hint, value, path)
    assert hint in (str, int, bool), f"{path}: fields of type {hint} are not read"
    if type(value) is not hint:
        raise ValueError(f"{path}: {value!r} is no {hint.__name__}")
    return value


def _alternative(hints: tuple[Any, ...], value: object, path: str) -> Any:
    """The class that a table is of: of several ones, it names its kind."""
    hints = tuple(hint for hint in hints if hint is not NoneType)
    if len(hints) == 1:
        return hints[0]
    known = {get_args(get_type_hints(hint)[_KIND])[0]: hint for hint in hints}
    kind = value.get(_KIND) if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in known:
        raise ValueError(f"{path}.{_KIND}: {kind!r} is none of {', '.join(map(repr, known))}")
    return known[kind]


def _read_tuple(arguments: tuple[Any, ...], value: object, path: str) -> tuple[object, ...]:
    if not isinstance(value, list):
        raise ValueError(f"{path}: a list is expected, not {value!r}")
    if arguments[-1] is Ellipsis:
        arguments = (arguments[0],) * len(value)
    if len(value) != len(arguments):
        raise ValueError(f"{path}: {len(arguments)} elements are expected, not {len(value)}")
    return tuple(
        _read(hint, each, f"{path}[{i}]")
        for i, (hint, each) in enumerate(zip(arguments, value, strict=True))
    )
