"""Functions of a Liberty file as tables of their values."""

import re
from collections.abc import Sequence
from typing import Final

from celosia.sim.export.silicon.cells.liberty import LibertyError

__all__ = ["truth_table"]

_WORD: Final = re.compile(r"\s*([A-Za-z_]\w*|[01!'()*&+|^])")
_AND, _OR = ("*", "&"), ("+", "|")


def truth_table(function: str, inputs: Sequence[str]) -> int:
    """The values of a Liberty function, bit i those for inputs that make i, the first the lowest.

    Raises `LibertyError` for a function that cannot be read, and for a name that is no input.
    """
    return _Reader(function, inputs).table()


class _Reader:
    """Reads a function from left to right; each value is a table."""

    def __init__(self, function: str, inputs: Sequence[str]):
        self.function = function
        self.words = [*_WORD.findall(function), ""]
        if "".join(self.words) != re.sub(r"\s", "", function):
            raise LibertyError(f"the function {function!r} has signs that are not known")
        size = 1 << len(inputs)
        self.every = (1 << size) - 1
        self.columns = {
            name: sum(1 << row for row in range(size) if row >> place & 1)
            for place, name in enumerate(inputs)
        } | {"0": 0, "1": self.every}

    def table(self) -> int:
        value = self._alternatives()
        if self.words != [""]:
            raise LibertyError(
                f"the function {self.function!r} is not read from {self.words[0]!r} on"
            )
        return value

    def _alternatives(self) -> int:
        value = self._exclusive()
        while self.words[0] in _OR:
            self.words.pop(0)
            value |= self._exclusive()
        return value

    def _exclusive(self) -> int:
        value = self._product()
        while self.words[0] == "^":
            self.words.pop(0)
            value ^= self._product()
        return value

    def _product(self) -> int:
        """Factors with a sign between them, or a space."""
        value = self._factor()
        while self.words[0] not in ("", "^", ")", *_OR):
            if self.words[0] in _AND:
                self.words.pop(0)
            value &= self._factor()
        return value

    def _factor(self) -> int:
        word = self.words.pop(0)
        if word == "!":
            return self.every ^ self._factor()
        if word == "(":
            value = self._alternatives()
            if self.words[0] != ")":
                raise LibertyError(f"the function {self.function!r} lacks a parenthesis")
            self.words.pop(0)
        elif word in self.columns:
            value = self.columns[word]
        else:
            raise LibertyError(f"the function {self.function!r} has {word!r}, which is no input")
        while self.words[0] == "'":
            self.words.pop(0)
            value ^= self.every
        return value
