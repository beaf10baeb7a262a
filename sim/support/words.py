"""Words for people: numbers of things, and names in little room."""

import re
import sys
from typing import Final

__all__ = ["command_line", "counted", "cut_middle"]

_GAP: Final = "..."
_LEAST: Final = 11
"""Characters of a part of a path that say something, with the gap among them."""
_ENDS: Final = re.compile(r"(?P<operator> \([^()]*\)(?:: \w+)?)?(?P<times> x\d+)?$")
"""What is behind a path: the operator, what it is there for, and how often there are alike ones."""


def command_line() -> tuple[str, ...]:
    """What was typed, for reports."""
    return ("celosia", *sys.argv[1:])


def counted(number: int, one: str, more: str = "") -> str:
    """So many of something: ``1 segment``, ``2,000 segments``; `more` is a plural without an s."""
    return f"{number:,} {one if number == 1 else more or f'{one}s'}"


def cut_middle(name: str, width: int) -> str:
    """A name in `width` characters: ``.../layer.0/.../query`` keeps what tells it from others.

    An operator in brackets goes first, then the parts of a path that are furthest from its end and
    have no number.
    """
    if len(name) <= width:
        return name
    found = _ENDS.search(name)
    assert found is not None
    path, times = name[: found.start()], found["times"] or ""
    room = width - len(times)
    if len(path) > room:
        path = _cut_path(path, room) or _cut_text(path, room)
    return path + times


def _cut_path(path: str, room: int) -> str | None:
    """A path without some of its parts; None: its last part alone is too long."""
    parts = path.removeprefix("/").split("/")
    last = len(parts) - 1
    numbered = [at for at in range(last) if any(map(str.isdigit, parts[at]))]
    kept: set[int] = {last}
    if last == 0 or len(_joined(parts, kept)) > room:
        return None
    for at in (last - 1, *numbered, *range(last - 2, -1, -1)):
        if len(_joined(parts, kept | {at})) <= room:
            kept.add(at)
        elif at == last - 1 and not numbered:  # It tells alike ones apart.
            left = room - len(_joined(parts, {at, last})) + len(parts[at])
            if left >= _LEAST:
                parts[at] = _cut_text(parts[at], left)
                kept.add(at)
    return _joined(parts, kept)


def _joined(parts: list[str], kept: set[int]) -> str:
    shown = [part if at in kept else _GAP for at, part in enumerate(parts)]
    return "/".join(
        part for at, part in enumerate(shown) if part != _GAP or at == 0 or shown[at - 1] != _GAP
    )


def _cut_text(text: str, room: int) -> str:
    left = max(0, room - len(_GAP))
    tail = (left + 1) // 2
    return text[: left - tail] + _GAP[:room] + text[len(text) - tail :]
