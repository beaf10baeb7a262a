"""A file of JSON lines for one process at a time; each line is whole, whatever happens."""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from celosia.sim.support.problems import OutputError

__all__ = ["append_line", "open_lines_of"]


@contextmanager
def open_lines_of(path: Path, held: str) -> Iterator[BinaryIO]:
    """The file at `path`, made if it is not there, at its beginning.

    Raises `OutputError` if it cannot be written, and with the words `held` if another process has
    it open.
    """
    try:
        file = path.open("a+b", buffering=0)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror}") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise OutputError(held) from None
        file.seek(0)
        yield file


def append_line(file: BinaryIO, line: Mapping[str, Any]) -> None:
    """Write a line by one call of the system's, so that a reader never sees a part.

    Raises `OutputError` if the disk is full: then a part may stand at the end.
    """
    data = json.dumps(line, allow_nan=False).encode() + b"\n"
    try:
        written = os.write(file.fileno(), data)
    except OSError as error:
        raise OutputError(f"{file.name}: cannot be written: {error.strerror}") from None
    if written != len(data):
        raise OutputError(f"{file.name}: the disk is full")
