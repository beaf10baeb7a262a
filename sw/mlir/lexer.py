"""The words of MLIR's generic syntax, each with its place."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from celosia.sw.mlir.operation import Place

__all__ = ["Token", "tokens"]

_WORDS: Final = re.compile(
    r"""
      (?P<space>\s+|//[^\n]*)
    | (?P<value>%(?:[0-9]+|[A-Za-z$._-][\w$.-]*))
    | (?P<string>"(?:[^"\\\n]|\\["\\nt]|\\[0-9A-Fa-f]{2})*")
    | (?P<number>-?(?:0x[0-9A-Fa-f]+|[0-9]+(?:\.[0-9]*(?:[eE][+-]?[0-9]+)?)?))
    | (?P<arrow>->)
    | (?P<word>[!#]?[A-Za-z_][\w$.]*)
    | (?P<mark>[(){}\[\]<>,:=?*+-])
    """,
    re.VERBOSE | re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word, and where it stands."""

    kind: str
    """``value``, ``string``, ``number``, ``arrow``, ``word``, ``mark`` or ``end``."""
    text: str
    place: Place
    start: int
    """Characters before it."""

    @property
    def end(self) -> int:
        """Characters up to its last."""
        return self.start + len(self.text)

    def __str__(self) -> str:
        return "the end" if self.kind == "end" else f"'{self.text}'"


def tokens(text: str) -> Iterator[Token]:
    """The words of `text`, the last of kind ``end``.

    Raises `ValueError` that names the place of a character that begins none.
    """
    line, begin, at = 1, 0, 0
    while at < len(text):
        found = _WORDS.match(text, at)
        place = Place(line, at - begin + 1)
        if found is None:
            raise ValueError(f"{place}: {text[at]!r} begins no word of MLIR's generic syntax")
        kind, word = str(found.lastgroup), found.group()
        if kind != "space":
            yield Token(kind, word, place, at)
        at = found.end()
        if lines := word.count("\n"):
            line, begin = line + lines, at - len(word) + word.rindex("\n") + 1
    yield Token("end", "", Place(line, at - begin + 1), at)
