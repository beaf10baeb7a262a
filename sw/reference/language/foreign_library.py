"""Calls of a library that ends in a panic where a file or a text is hostile."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Final

__all__ = ["Refused", "refusing"]

_PANIC: Final = "PanicException"
"""What Rust's panics are called in Python.  The class stands in no module that can be imported, and
is no `Exception`: to end like this is meant to be impossible, and here it is not."""
_STANDARD_ERROR: Final = 2


class Refused(Exception):
    """What the library said in place of a result."""


@contextmanager
def refusing() -> Iterator[None]:
    """Raise `Refused` for what the library raises, panics among them, and print none of them.

    Rust prints a panic and its stack by itself; so what the process writes to standard error is
    held back meanwhile, and let go afterwards unless there was a panic.
    """
    with tempfile.TemporaryFile() as held, _diverted(held):
        try:
            yield
        except Exception as error:  # The library raises nothing more exact.
            raise Refused(str(error)) from None
        except BaseException as error:
            if type(error).__name__ != _PANIC:
                raise
            held.truncate(0)
            raise Refused(str(error)) from None


@contextmanager
def _diverted(file: BinaryIO) -> Iterator[None]:
    """Standard error goes into `file`, and what is in that at the end to standard error."""
    kept = os.dup(_STANDARD_ERROR)
    try:
        os.dup2(file.fileno(), _STANDARD_ERROR)
        try:
            yield
        finally:
            os.dup2(kept, _STANDARD_ERROR)
            file.seek(0)
            os.write(kept, file.read())
    finally:
        os.close(kept)
