"""Programs from their text (`celosia.sw.ir.print_program`)."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields
from types import UnionType
from typing import Any, Final, get_args, get_origin, get_type_hints

from celosia.isa.encoding import WeightType
from celosia.isa.functions.table import Function
from celosia.sw.ir.graph import View
from celosia.sw.ir.print_program import KINDS
from celosia.sw.ir.program import Drain, LocalRows, Op, Space

__all__ = ["parse_program"]

_HINTS: Final = {kind: get_type_hints(kind) for kind in (*KINDS.values(), Drain)}
_FUNCTIONS: Final = {function.name.lower(): function for function in Function}
_WEIGHTS: Final = {kind.name.lower(): kind for kind in WeightType}

_WORD: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_BARE: Final = re.compile(r"\w[\w./-]*", re.ASCII)
_QUOTED: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-f]{4}))*"')
_NUMBER: Final = re.compile(r"-?[0-9]+")
_REAL: Final = re.compile(r"-?(?:inf|[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)")
_TRUTH: Final = re.compile("true|false")
_ROWS: Final = re.compile(
    rf"({'|'.join(space.value for space in Space)})"
    r"\[([0-9]+):([0-9]+)\](?:\*([0-9]+)\+([0-9]+))?"
)
_RECTANGLE: Final = re.compile(r"\[([0-9]+):([0-9]+), ([0-9]+):([0-9]+)\]")


def parse_program(text: str) -> tuple[tuple[str, Op], ...]:
    """The operations of a text, each with the name of its operator.

    Raises `ValueError` that names the line and the column of what is not understood.
    """
    lines = (_Line(line, number) for number, line in enumerate(text.split("\n"), 1))
    return tuple(line.operation() for line in lines if not line.is_empty)


class _Line:
    """A line, and how far it is read."""

    def __init__(self, text: str, number: int):
        self._text, self._place, self._at = text, number, 0

    @property
    def is_empty(self) -> bool:
        """Whether it has no operation."""
        return not self._text or self._text.startswith("#")

    def operation(self) -> tuple[str, Op]:
        """The operator's name and the operation."""
        operator = self._read_name()
        self._expect(": ")
        kind = self._choice("a kind of operation", KINDS)
        values = self._fields(kind, " ", lambda: self._at == len(self._text))
        return operator, kind(**values)

    def _fields(self, kind: Any, between: str, ended: Callable[[], bool]) -> dict[str, Any]:
        """The fields of a value of this class, up to where they have `ended`."""
        hints, values = _HINTS[kind], {}
        while not ended():
            if values or between == " ":
                self._expect(between)
            start = self._at
            name = self._take(_WORD, "a field")[0]
            if name not in hints or name in values:
                self._at = start
                raise self._wrong(f"another field of {kind.__name__} ({', '.join(hints)})")
            self._expect("=")
            values[name] = self._read(hints[name])
        for field in fields(kind):
            needed = field.default is MISSING and field.default_factory is MISSING
            if needed and field.name not in values:
                raise self._wrong(f"the field {field.name} of {kind.__name__}")
        return values

    def _read(self, hint: Any) -> Any:
        """A value of a field with this annotation."""
        if get_origin(hint) is UnionType:
            hint = next(each for each in get_args(hint) if each is not type(None))
        if get_origin(hint) is tuple:
            return tuple(self._list("(", ")", lambda: self._read(get_args(hint)[0])))
        if get_origin(hint) is Mapping:
            return dict(self._list("{", "}", self._setting))
        return _READERS[hint](self)

    def _number(self) -> int:
        return int(self._take(_NUMBER, "a number")[0])

    def _truth(self) -> bool:
        return self._take(_TRUTH, "true or false")[0] == "true"

    def _real(self) -> float:
        return float(self._take(_REAL, "a number")[0])

    def _function(self) -> Function:
        return self._choice("a function", _FUNCTIONS)

    def _weights(self) -> WeightType:
        return self._choice("a type of weights", _WEIGHTS)

    def _view(self) -> View:
        name = self._read_name()
        found = self._take(_RECTANGLE, "[row:row, column:column]")
        row, end_row, col, end_col = map(int, found.groups())
        return View(name, row, col, end_row - row, end_col - col)

    def _rows(self) -> LocalRows:
        space, *numbers = self._take(_ROWS, "local rows").groups("")
        row, end = map(int, numbers[:2])
        blocks, pitch = map(int, numbers[2:]) if numbers[2] else (1, end - row)
        return LocalRows(Space(space), row, end - row, blocks, pitch)

    def _drain(self) -> Drain:
        self._expect("{")
        values = self._fields(Drain, ", ", lambda: self._text.startswith("}", self._at))
        self._expect("}")
        return Drain(**values)

    def _list(self, begin: str, end: str, read: Callable[[], Any]) -> Iterator[Any]:
        self._expect(begin)
        while not self._text.startswith(end, self._at):
            yield read()
            if not self._text.startswith(end, self._at):
                self._expect(", ")
        self._expect(end)

    def _setting(self) -> tuple[str, int]:
        name = self._take(_WORD, "a field")[0]
        self._expect("=")
        return name, self._number()

    def _read_name(self) -> str:
        if self._text.startswith('"', self._at):
            return json.loads(self._take(_QUOTED, "a name")[0])
        return self._take(_BARE, "a name")[0]

    def _choice(self, what: str, known: Mapping[str, Any]) -> Any:
        start = self._at
        word = self._take(_WORD, what)[0]
        if word not in known:
            self._at = start
            raise self._wrong(f"{what} ({', '.join(known)})")
        return known[word]

    def _expect(self, text: str) -> None:
        if not self._text.startswith(text, self._at):
            raise self._wrong(repr(text))
        self._at += len(text)

    def _take(self, pattern: re.Pattern[str], what: str) -> re.Match[str]:
        found = pattern.match(self._text, self._at)
        if found is None:
            raise self._wrong(what)
        self._at = found.end()
        return found

    def _wrong(self, what: str) -> ValueError:
        place = f"line {self._place}, column {self._at + 1}"
        return ValueError(f"{place}: {what} is expected, not {self._text[self._at :][:40]!r}")


_READERS: Final[Mapping[Any, Callable[[_Line], Any]]] = {
    int: _Line._number,
    bool: _Line._truth,
    float: _Line._real,
    Function: _Line._function,
    WeightType: _Line._weights,
    View: _Line._view,
    LocalRows: _Line._rows,
    Drain: _Line._drain,
}
