"""Patches in the unified format, and applying them without any tool."""

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from celosia.isa.foreign_file import MIB
from celosia.sim.support.output import read_text
from celosia.sim.support.problems import InputError

__all__ = ["FilePatch", "Patch", "load_foreign", "parse_patch"]

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@")
_NOWHERE = "/dev/null"


@dataclass(frozen=True)
class _Hunk:
    """Lines that are there, and those that take their place."""

    line: int
    """The number of the first line that is replaced, from 1."""
    old: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(frozen=True)
class FilePatch:
    """What happens to one file."""

    path: str
    """The file's path below the root, with slashes."""
    hunks: tuple[_Hunk, ...]
    creates: bool = False
    deletes: bool = False


@dataclass(frozen=True)
class Patch:
    """A fault: what it is, which tests must notice it, and what it changes."""

    name: str
    title: str
    tests: tuple[str, ...]
    """Arguments of pytest, one string per run."""
    files: tuple[FilePatch, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that it changes, below the root."""
        return tuple(file.path for file in self.files)

    def changed(self, root: Path) -> dict[str, str | None]:
        """What becomes of the files below `root`; None: nothing.  Raises `InputError`."""
        results: dict[str, str | None] = {}
        for file in self.files:
            if file.creates:
                results[file.path] = "\n".join(file.hunks[0].new) + "\n"
                continue
            if not (root / file.path).is_file():
                raise InputError(f"{self.name}: does not apply: there is no file {file.path}")
            changed = _changed((root / file.path).read_text(), file, self.name)
            results[file.path] = None if file.deletes else changed
        return results


def parse_patch(text: str, name: str) -> Patch:
    """`text`, with ``Fault:`` and ``Caught-by:`` lines before the first file, if it has them.

    Raises `InputError` that names the line.
    """
    lines = text.splitlines()
    title, tests, files = "", [], []
    number = 0
    while number < len(lines):
        line = lines[number]
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if line.startswith("--- ") and following.startswith("+++ "):
            file, number = _file(lines, number, name)
            files.append(file)
            continue
        if line.startswith("Fault:"):
            title = line.partition(":")[2].strip()
        elif line.startswith("Caught-by:"):
            tests.append(line.partition(":")[2].strip())
        number += 1
    if not files:
        raise InputError(f"{name}: not a patch: it changes no file (no lines --- and +++)")
    return Patch(name, title, tuple(tests), tuple(files))


def load_foreign(path: str) -> Patch:
    """A patch from anywhere.  Raises `InputError`."""
    return parse_patch(read_text(path, MIB), path)


def _file(lines: list[str], number: int, name: str) -> tuple[FilePatch, int]:
    """The file whose part begins at line `number`, and where that part ends."""
    before, after = (_path(lines[number + step][4:], name) for step in (0, 1))
    number += 2
    hunks = []
    while number < len(lines) and (found := _HUNK.match(lines[number])):
        old, new = [], []
        number += 1
        while number < len(lines) and lines[number][:1] in {" ", "+", "-", "\\", ""}:
            sign, rest = lines[number][:1], lines[number][1:]
            behind = lines[number + 1] if number + 1 < len(lines) else ""
            if sign == "-" and rest.startswith("-- ") and behind.startswith("+++ "):
                break
            if sign in {" ", "-", ""}:
                old.append(rest)
            if sign in {" ", "+", ""}:
                new.append(rest)
            number += 1
        hunks.append(_Hunk(int(found[1]), tuple(old), tuple(new)))
    if not hunks:
        raise InputError(f"{name}:{number}: a file without a hunk (@@ -... +... @@)")
    path = after if before == _NOWHERE else before
    return FilePatch(path, tuple(hunks), before == _NOWHERE, after == _NOWHERE), number


def _path(text: str, name: str) -> str:
    """The path that a line names, without `a/` or `b/`, and inside the tree."""
    path = text.split("\t", maxsplit=1)[0].strip()
    if path == _NOWHERE:
        return path
    if path[:2] in {"a/", "b/"}:
        path = path[2:]
    parts = PurePosixPath(path)
    if parts.is_absolute() or ".." in parts.parts or not parts.parts:
        raise InputError(f"{name}: {path!r} is not a file below the root of the checkout")
    return path


def _changed(text: str, file: FilePatch, name: str) -> str:
    lines, shift = text.split("\n"), 0
    for hunk in file.hunks:
        place = _place(lines, hunk, hunk.line - 1 + shift)
        if place is None:
            raise InputError(
                f"{name}: does not apply: {file.path} has no lines as they are "
                f"in the hunk of line {hunk.line}"
            )
        lines[place : place + len(hunk.old)] = hunk.new
        shift = place - (hunk.line - 1) + len(hunk.new) - len(hunk.old)
    return "\n".join(lines)


def _place(lines: list[str], hunk: _Hunk, guess: int) -> int | None:
    """Where the old lines of `hunk` are, the nearest to `guess`."""
    count, old = len(hunk.old), list(hunk.old)
    places = [
        place for place in range(len(lines) - count + 1) if lines[place : place + count] == old
    ]
    return min(places, key=lambda place: abs(place - guess), default=None)
