"""Files that appear complete or not at all, and standard input and output in their place."""

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.foreign_file import ForeignFileError, read_foreign
from celosia.sim.support.problems import InputError, OutputError

__all__ = [
    "STANDARD_INPUT",
    "STANDARD_OUTPUT",
    "check_destination",
    "open_atomically",
    "read_bytes",
    "read_text",
    "replace_atomically",
    "write_array",
    "write_file",
]

STANDARD_INPUT: Final = "-"
STANDARD_OUTPUT: Final = "-"
"""What stands for standard output in place of a file's name."""


def check_destination(path: str | Path | None) -> None:
    """Raise `OutputError` if `path` can certainly not be written: before a long run, not after.

    None and `STANDARD_OUTPUT` always pass.
    """
    if path is None or str(path) == STANDARD_OUTPUT:
        return
    try:
        target = Path(os.path.realpath(path))
    except ValueError as error:
        raise OutputError(f"{str(path)!r}: cannot be written: {error}") from None
    folder = target.parent
    if target.is_dir():
        raise OutputError(f"{path}: is a directory, not a file to write")
    if _is_special(target):
        if not os.access(target, os.W_OK):
            raise OutputError(f"{path}: may not be written")
        return
    if not folder.is_dir():
        raise OutputError(f"{path}: there is no directory {folder}")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OutputError(f"{path}: the directory {folder} may not be written")
    try:  # Names may be too long, and file systems refuse what permissions allow.
        os.unlink(_create_beside(str(target)))
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from error


@contextlib.contextmanager
def open_atomically(path: str | Path) -> Iterator[BinaryIO]:
    """A binary file that takes the place of `path` when the block ends without an exception.

    It is written beside its destination under another name, so that nobody ever sees a part of
    it, and a failure leaves what was there before.  Pipes and devices are written directly.
    Raises `OutputError` for a full disk and all else that the system refuses.
    """
    target = os.path.realpath(path)
    try:
        if _is_special(Path(target)):
            with open(target, "wb") as device:
                yield device
            return
        with _replacing(target) as file:
            yield file
    except BrokenPipeError:
        raise
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise OutputError(f"{path}: not written: {error.strerror or error}") from error


def write_file(path: str | Path, data: bytes | str) -> None:
    """Put `data` into `path` (atomically), or on standard output if it is `STANDARD_OUTPUT`."""
    raw = data.encode() if isinstance(data, str) else data
    if str(path) != STANDARD_OUTPUT:
        with open_atomically(path) as file:
            file.write(raw)
        return
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(raw)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"standard output: {error.strerror or error}") from error


def read_bytes(path: str | Path, most_bytes: int) -> bytes:
    """What is in `path`, or on standard input if that is `STANDARD_INPUT`.

    Raises `InputError` for what `celosia.isa.foreign_file` refuses, and for more than `most_bytes`.
    """
    if str(path) == STANDARD_INPUT:
        data = sys.stdin.buffer.read(most_bytes + 1)
        if len(data) > most_bytes:
            raise InputError(f"standard input: more than the {most_bytes:,} bytes that it may have")
        return data
    try:
        return read_foreign(path, most_bytes)
    except ForeignFileError as error:
        raise InputError(str(error)) from None


def read_text(path: str | Path, most_bytes: int) -> str:
    """What `read_bytes` reads, as text."""
    try:
        return read_bytes(path, most_bytes).decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not a text file: {error}") from None


def write_array(path: str | Path, array: NDArray[Any]) -> None:
    """Put `array` into the ``.npy`` file `path`."""
    with open_atomically(path) as file:
        np.lib.format.write_array(file, array, allow_pickle=False)


@contextlib.contextmanager
def replace_atomically(path: str | Path) -> Iterator[Path]:
    """A new, empty file that takes the place of `path` when the block ends without an exception.

    It is beside its destination, and gone after a failure.
    """
    target = os.path.realpath(path)
    temporary = _create_beside(target)
    try:
        yield Path(temporary)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def _create_beside(target: str) -> str:
    """The name of a new, empty file beside `target`."""
    temporary = f"{target}.{os.getpid()}.partial"
    os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    return temporary


@contextlib.contextmanager
def _replacing(target: str) -> Iterator[BinaryIO]:
    with replace_atomically(target) as temporary, open(temporary, "wb") as file:
        yield file


def _is_special(path: Path) -> bool:
    """Whether `path` exists and is neither a regular file nor a directory."""
    return path.exists() and not path.is_file() and not path.is_dir()
