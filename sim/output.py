"""Files that appear complete or not at all."""

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from celosia.sim.problems import OutputError

__all__ = ["STANDARD_OUTPUT", "check_destination", "open_atomically", "write_file"]

STANDARD_OUTPUT = "-"
"""In place of a file's name."""


def check_destination(path: str | Path | None) -> None:
    """Raise `OutputError` if `path` can certainly not be written: before a long run, not after.

    None and `STANDARD_OUTPUT` always pass.
    """
    if path is None or str(path) == STANDARD_OUTPUT:
        return
    target = Path(os.path.realpath(path))
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


@contextlib.contextmanager
def _replacing(target: str) -> Iterator[BinaryIO]:
    temporary = f"{target}.{os.getpid()}.partial"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def _is_special(path: Path) -> bool:
    """Whether `path` exists and is neither a regular file nor a directory."""
    return path.exists() and not path.is_file() and not path.is_dir()
