"""MLIR's generic syntax to operations.

What is read: operations with results, operands, properties, attributes and regions of one block
without label, and function types.  Types are kept as they are written.  What is not read, and
refused: successors, labels of blocks, aliases, results in groups (``%0:2``) and locations.
"""

from collections.abc import Callable
from struct import unpack
from typing import Final, TypeVar

from celosia.sw.mlir.lexer import Token, tokens
from celosia.sw.mlir.operation import Attribute, Operation

__all__ = ["MAX_DEPTH", "parse_operation"]

_T = TypeVar("_T")

MAX_DEPTH: Final = 64
"""Regions and attributes in each other, at most."""
_BRACKETS: Final = {"<": ">", "(": ")", "[": "]", "{": "}"}
_INTEGER_TYPES: Final = ("i64", "si64")
_FLOAT_TYPE: Final = "f64"
_ESCAPES: Final = {"n": b"\n", "t": b"\t", '"': b'"', "\\": b"\\"}


def parse_operation(text: str) -> Operation:
    """The operation that `text` consists of; raises `ValueError` that names line and column."""
    parser = _Parser(text)
    operation = parser.operation()
    parser.expect("end", "")
    return operation


class _Parser:
    """A place in the text."""

    def __init__(self, text: str):
        self._text = text
        self._tokens = list(tokens(text))
        self._next = 0
        self._depth = 0

    @property
    def _now(self) -> Token:
        return self._tokens[self._next]

    def _fails(self, wanted: str) -> ValueError:
        return ValueError(f"{self._now.place}: {wanted} is expected, not {self._now}")

    def _take(self) -> Token:
        token = self._now
        self._next += token.kind != "end"
        return token

    def _is(self, text: str) -> bool:
        return self._now.text == text and self._now.kind in ("mark", "arrow", "word")

    def _takes(self, text: str) -> bool:
        """Take `text` if it is next."""
        found = self._is(text)
        self._next += found
        return found

    def expect(self, kind: str, text: str | None = None) -> Token:
        """Take a word of this kind."""
        if self._now.kind != kind or (text is not None and self._now.text != text):
            raise self._fails(f"'{text}'" if text else "the end" if kind == "end" else f"a {kind}")
        return self._take()

    def _list(self, element: Callable[[], _T], end: str) -> tuple[_T, ...]:
        """Elements with commas between them, up to `end`, which is taken."""
        found: list[_T] = []
        while not self._takes(end):
            if found:
                self.expect("mark", ",")
            found.append(element())
        return tuple(found)

    def _nested(self, element: Callable[[], _T]) -> _T:
        """`element`, one level deeper."""
        if self._depth == MAX_DEPTH:
            raise ValueError(f"{self._now.place}: more than {MAX_DEPTH} levels in each other")
        self._depth += 1
        found = element()
        self._depth -= 1
        return found

    def operation(self) -> Operation:
        """One operation with all that is in it."""
        place, results = self._now.place, []
        while self._now.kind == "value":
            results.append(self._value())
            self.expect("mark", "," if self._is(",") else "=")
            if self._tokens[self._next - 1].text == "=":
                break
        name = self._string()
        self.expect("mark", "(")
        operands = self._list(self._value, ")")
        attributes: dict[str, Attribute] = {}
        if self._takes("<"):
            attributes |= self._dictionary()
            self.expect("mark", ">")
        regions = self._list(self._region, ")") if self._takes("(") else ()
        if self._is("{"):
            attributes |= self._dictionary()
        self.expect("mark", ":")
        types = self._now.place
        self.expect("mark", "(")
        operand_types = self._list(self._type, ")")
        self.expect("arrow")
        result_types = self._list(self._type, ")") if self._takes("(") else (self._type(),)
        for kind, values, of in (
            ("operands", operands, operand_types),
            ("results", results, result_types),
        ):
            if len(values) != len(of):
                raise ValueError(f"{types}: {len(of)} types of {len(values)} {kind}")
        return Operation(
            name=name,
            results=tuple(results),
            result_types=result_types,
            operands=operands,
            operand_types=operand_types,
            attributes=attributes,
            regions=regions,
            place=place,
        )

    def _value(self) -> str:
        return self.expect("value").text[1:]

    def _region(self) -> tuple[Operation, ...]:
        self.expect("mark", "{")
        found: list[Operation] = []
        while not self._takes("}"):
            found.append(self._nested(self.operation))
        return tuple(found)

    def _string(self) -> str:
        token = self.expect("string")
        out, rest = bytearray(), token.text[1:-1]
        while rest:
            if rest[0] != "\\":
                out += rest[0].encode()
                rest = rest[1:]
            elif rest[1] in _ESCAPES:
                out += _ESCAPES[rest[1]]
                rest = rest[2:]
            else:
                out.append(int(rest[1:3], 16))
                rest = rest[3:]
        try:
            return out.decode()
        except UnicodeDecodeError:
            raise ValueError(f"{token.place}: {token} is not UTF-8") from None

    def _type(self) -> str:
        """The text of a type, up to a comma or bracket that is not inside of it."""
        first = last = self._now
        if first.kind != "word":
            raise self._fails("a type")
        self._take()
        open_brackets: list[str] = []
        while open_brackets or self._is("<"):
            if self._now.kind == "end":
                raise self._fails(f"'{open_brackets[-1]}'")
            last = self._take()
            if last.text in _BRACKETS:
                open_brackets.append(_BRACKETS[last.text])
            elif open_brackets and last.text == open_brackets[-1]:
                open_brackets.pop()
            elif last.text in _BRACKETS.values():
                raise ValueError(f"{last.place}: '{open_brackets[-1]}' is expected, not {last}")
        return self._text[first.start : last.end]

    def _dictionary(self) -> dict[str, Attribute]:
        self.expect("mark", "{")
        found: dict[str, Attribute] = {}

        def entry() -> None:
            place = self._now.place
            name = self._string() if self._now.kind == "string" else self.expect("word").text
            if name in found:
                raise ValueError(f"{place}: attribute {name} is given twice")
            found[name] = self._nested(self._attribute) if self._takes("=") else True

        self._list(entry, "}")
        return found

    def _attribute(self) -> Attribute:
        if self._now.kind == "string":
            return self._string()
        if self._now.kind == "number":
            return self._number()
        if self._is("{"):
            return self._dictionary()
        if self._takes("["):
            return self._list(lambda: self._nested(self._attribute), "]")
        if self._is("true") or self._is("false"):
            return self._take().text == "true"
        raise self._fails("an attribute")

    def _number(self) -> int | float:
        token = self._take()
        text, kind = token.text, "f64" if "." in token.text else "i64"
        if self._takes(":"):
            kind = self._type()
        if kind == _FLOAT_TYPE and text.startswith("0x") and len(text) == 2 + 16:
            return float(unpack(">d", bytes.fromhex(text[2:]))[0])
        if kind == _FLOAT_TYPE and "." in text:
            return float(text)
        if kind in _INTEGER_TYPES and "." not in text:
            return int(text, 0) if "x" in text else int(text)
        raise ValueError(f"{token.place}: {token} is no number of type {kind} that is known here")
