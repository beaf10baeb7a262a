"""The groups of a Liberty file: what they are of, their attributes, and the groups in them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from celosia.sim.export.silicon.cells.liberty import LibertyError

__all__ = ["Group", "read_groups"]

_COMMENT: Final = re.compile(r"/\*.*?\*/|//[^\n]*|\\\n", re.DOTALL)
_TOKEN: Final = re.compile(
    r"\s*(?:(?P<end>\})"
    r"|(?P<group>[\w.]+)\s*\((?P<arguments>[^)]*)\)\s*\{"
    r'|(?P<complex>[\w.]+)\s*\((?P<values>(?:[^")]|"[^"]*")*)\)\s*;?'
    r'|(?P<simple>[\w.]+)\s*:\s*(?P<value>"[^"]*"|[^;\n]+?)\s*(?:;|\n))'
)


@dataclass
class Group:
    """A group, as ``pin (A) { ... }``."""

    kind: str
    name: str
    """What is between the parentheses, without quotes."""
    values: dict[str, str] = field(default_factory=dict[str, str])
    """Attributes, without quotes; of those that occur several times, the last."""
    groups: list["Group"] = field(default_factory=list["Group"])

    def all(self, kind: str) -> Iterator["Group"]:
        """The groups in it of a kind."""
        return (group for group in self.groups if group.kind == kind)

    def numbers(self, attribute: str) -> Sequence[float]:
        """The numbers of an attribute; none if it is not there."""
        return [float(word) for word in re.findall(r"[^\s,]+", self.values.get(attribute, ""))]


def read_groups(text: str) -> Group:
    """The outermost group of a Liberty file.  Raises `LibertyError` where it is none."""
    text, place = _COMMENT.sub(" ", text).rstrip(), 0
    outer = Group("", "")
    stack = [outer]
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            raise LibertyError(f"is not read at {text[place : place + 40].strip()!r}")
        place = found.end()
        _take(found.groupdict(), stack)
    if len(stack) != 1 or len(outer.groups) != 1:
        raise LibertyError("is not one group whose braces are closed")
    return outer.groups[0]


def _take(part: Mapping[str, str | None], stack: list[Group]) -> None:
    inner = stack[-1]
    if part["end"]:
        if len(stack) == 1:
            raise LibertyError("has a brace that closes nothing")
        stack.pop()
    elif kind := part["group"]:
        inner.groups.append(Group(kind, _plain(part["arguments"])))
        stack.append(inner.groups[-1])
    elif name := part["complex"]:
        inner.values[name] = _plain(part["values"])
    elif name := part["simple"]:
        inner.values[name] = _plain(part["value"])


def _plain(text: str | None) -> str:
    return (text or "").replace('"', "").strip()
