"""Programs as text: a line for each operation, which prints the same for equal programs.

A line has the operator that the operation belongs to, its kind, and its fields; those that have
their default are left out.  ``scratchpad[512:528]*2+16`` are two blocks of sixteen rows, the second
one sixteen rows behind the first.  Empty lines and those that begin with ``#`` mean nothing.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, fields
from typing import Final

from celosia.isa.encoding import WeightType
from celosia.isa.functions.table import Function
from celosia.sw.ir.graph import View
from celosia.sw.ir.program import (
    Drain,
    Load,
    LoadParameters,
    LocalRows,
    Op,
    Products,
    Store,
    Transform,
)

__all__ = ["KINDS", "print_operation", "print_program"]

KINDS: Final[Mapping[str, type[Op]]] = {
    "load": Load,
    "load_parameters": LoadParameters,
    "products": Products,
    "transform": Transform,
    "store": Store,
}
"""The kinds of operations by the words that stand for them."""
_NAMES: Final = {kind: name for name, kind in KINDS.items()}
_BARE: Final = re.compile(r"\w[\w./-]*", re.ASCII)


def print_program(program: Iterable[tuple[str, Op]]) -> str:
    """The text of operations, each with the name of its operator."""
    return "".join(f"{_name(operator)}: {print_operation(op)}\n" for operator, op in program)


def print_operation(op: Op) -> str:
    """The line of an operation, without its operator."""
    return f"{_NAMES[type(op)]} {' '.join(_entries(op))}"


def _name(name: str) -> str:
    return name if _BARE.fullmatch(name) else json.dumps(name)


def _entries(value: Op | Drain) -> Iterator[str]:
    """The fields of a value, but for those that have their default."""
    for field in fields(value):
        given = getattr(value, field.name)
        made = field.default_factory
        if given != (field.default if made is MISSING else made()):
            yield f"{field.name}={_value(given)}"


def _value(value: object) -> str:
    match value:
        case Function() | WeightType():
            text = value.name.lower()
        case bool():
            text = str(value).lower()
        case int():
            text = str(value)
        case float():
            text = repr(float(value))
        case View():
            (rows, cols), name = value.slices, _name(value.tensor)
            text = f"{name}[{rows.start}:{rows.stop}, {cols.start}:{cols.stop}]"
        case LocalRows():
            plain = (value.blocks, value.pitch) == (1, value.rows)
            text = f"{value.space.value}[{value.row}:{value.row + value.rows}]"
            text += "" if plain else f"*{value.blocks}+{value.pitch}"
        case Drain():
            text = f"{{{', '.join(_entries(value))}}}"
        case tuple():
            text = f"({', '.join(map(_value, value))})"
        case _:
            assert isinstance(value, Mapping), f"{value!r} is no value of a program"
            text = f"{{{', '.join(f'{name}={int(each)}' for name, each in value.items())}}}"
    return text
