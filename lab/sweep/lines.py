"""The lines of a sweep in its folder, or of a search: each whole, each once, kept through all."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from celosia.isa.foreign_file import parse_json
from celosia.lab.sweep.point import Line
from celosia.sim.support.line_file import append_line, open_lines_of
from celosia.sim.support.problems import InputError

__all__ = ["LINES", "Lines", "open_lines"]

LINES: Final = "points.jsonl"
"""The name of the file in the folder of a sweep."""


class Lines:
    """What is known of points, by their keys; `add` writes a line before it returns."""

    def __init__(self, file: BinaryIO, known: dict[str, Line]):
        self._file = file
        self.known = known

    def add(self, line: Line) -> None:
        """Keep one more line."""
        append_line(self._file, line)
        self.known[line["key"]] = line


@contextmanager
def open_lines(folder: Path, name: str = LINES, what: str = "sweep") -> Iterator[Lines]:
    """The lines in the file `name` of `folder`, for one process at a time.

    The end of a line that was cut short is removed.  Raises `InputError` if the file holds anything
    else than lines of a sweep, or of `what` messages call it, and `OutputError` if another one
    writes there, or nothing can.
    """
    path = folder / name
    with open_lines_of(path, f"{folder}: another {what} writes there") as file:
        data = file.read()
        whole = data[: data.rfind(b"\n") + 1]
        known = dict(_parsed(whole, path, what))
        if len(data) > len(whole):
            file.truncate(len(whole))
        yield Lines(file, known)


def _parsed(data: bytes, path: Path, what: str) -> Iterator[tuple[str, Line]]:
    for number, text in enumerate(data.splitlines(), 1):
        try:
            line = parse_json(text)
        except ValueError:
            line = None
        if not isinstance(line, dict) or not isinstance(line.get("key"), str):
            raise InputError(f"{path}: line {number}: not a line of a {what}")
        yield line["key"], line
