"""The one way in for files that somebody else wrote: regular files of a bounded size.

A FIFO would hang its reader, a device would never end, and a sparse file of terabytes would fill
the memory; so all of these are refused before a byte of them is read.
"""

import json
import os
import re
import stat
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any, Final

__all__ = [
    "MIB",
    "ForeignFileError",
    "check_foreign",
    "open_foreign",
    "parse_json",
    "parse_toml",
    "read_foreign",
    "read_text",
]

MIB: Final = 1 << 20

_MOST_DEPTH: Final = 100
"""Arrays and objects of JSON within each other; nothing that is read here has a tenth of that."""
_STRING_OR_BRACKET: Final = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)

_KINDS: Final = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


class ForeignFileError(ValueError):
    """A file that cannot be read; the message names the file and the rule that it breaks."""


@contextmanager
def open_foreign(path: str | Path, most_bytes: int) -> Iterator[BufferedReader]:
    """The regular file at `path`, open for reading, if it has at most `most_bytes`.

    Raises `ForeignFileError` for a file that is missing, may not be read, is no regular file, or
    is larger than `most_bytes` or the memory of this machine; and for what the system says while
    the file is read.
    """
    try:
        # Without O_NONBLOCK, to open a FIFO is to wait for somebody who writes into it.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise ForeignFileError(f"{path}: {error.strerror or error}") from None
    except ValueError as error:  # The name has a zero byte.
        raise ForeignFileError(f"{str(path)!r}: {error}") from None
    try:
        _check(path, os.fstat(descriptor), most_bytes)
    except ForeignFileError:
        os.close(descriptor)
        raise
    with os.fdopen(descriptor, "rb") as file:
        try:
            yield file
        except OSError as error:
            raise ForeignFileError(f"{path}: {error.strerror or error}") from None


def check_foreign(path: str | Path, most_bytes: int) -> None:
    """Raise what `open_foreign` raises: for libraries that open files by their names."""
    with open_foreign(path, most_bytes):
        pass


def read_foreign(path: str | Path, most_bytes: int) -> bytes:
    """All bytes of the file that `open_foreign` opens; raises what it raises."""
    with open_foreign(path, most_bytes) as file:
        return file.read(most_bytes)


def read_text(path: str | Path, most_bytes: int) -> str:
    """What `read_foreign` reads, as UTF-8.  Raises `ForeignFileError` if it is not text either."""
    try:
        return read_foreign(path, most_bytes).decode()
    except UnicodeDecodeError as error:
        raise ForeignFileError(f"{path}: not a text file: {error}") from None


def parse_json(text: str | bytes, **readers: Any) -> Any:
    """The value of a JSON text; `readers` are those that `json.loads` has for its numbers.

    Raises `ValueError` that says where the text is none, also for one that is nested over 100 deep:
    Python's parser takes some more, and then what prints or compares such a value does not.
    """
    known = text.decode() if isinstance(text, bytes) else text
    if _is_deep(known):
        raise ValueError(f"it is nested too deeply: over {_MOST_DEPTH} arrays and objects")
    return json.loads(known, **readers)


def _is_deep(text: str) -> bool:
    """Whether brackets outside of strings are open in larger number than `_MOST_DEPTH`."""
    if text.count("[") + text.count("{") <= _MOST_DEPTH:
        return False
    depth = 0
    for found in _STRING_OR_BRACKET.finditer(text):
        first = found[0][0]
        depth += (first in "[{") - (first in "]}")
        if depth > _MOST_DEPTH:
            return True
    return False


def parse_toml(text: str) -> dict[str, Any]:
    """The tables of a TOML text.

    Raises `ValueError` that says where the text is none, also for one that is nested so deeply that
    Python's parser ends in a `RecursionError`.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"not TOML: {error}") from None
    except RecursionError:
        raise ValueError("not TOML: it is nested too deeply") from None


def _check(path: str | Path, status: os.stat_result, most_bytes: int) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind = _KINDS.get(stat.S_IFMT(status.st_mode), "special")
        raise ForeignFileError(f"{path}: is {kind}, not a regular file")
    if status.st_size > most_bytes:
        raise ForeignFileError(
            f"{path}: {status.st_size:,} bytes are more than the {most_bytes:,} that are permitted"
        )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if status.st_size > memory:
        raise ForeignFileError(
            f"{path}: {status.st_size:,} bytes are more than this machine's memory of {memory:,}"
        )
