"""A directory of files that are named by the hash of all that they were made from.

Nothing in it is ever changed: a file appears complete, under its final name, in one step, after the
record of its size and digest.  So two processes may fill it at once; a lock only saves them from
doing the same work twice.  A file is compared with its record whenever it is used: a disk that was
full, or a machine that went down, must not end in a damaged library that is loaded for ever.
"""

import fcntl
import hashlib
import json
import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from hashlib import blake2b
from io import BufferedReader
from pathlib import Path
from typing import Final

import platformdirs

from celosia.isa.foreign_file import ForeignFileError, open_foreign, parse_json, read_text
from celosia.sim.support.errors import EnvironmentProblem

__all__ = ["CACHE_VARIABLE", "cache_directory", "cached", "digest", "sound"]

CACHE_VARIABLE = "CELOSIA_CACHE"
"""Names the directory, if it shall not be the user's cache directory."""

_DIGEST_BYTES: Final = 16
_RECORD_BYTES: Final = 1000
_MAKING: Final = ".making-"
"""How names of directories begin in which something is made."""
_LOG: Final = logging.getLogger("celosia")
"""Its warnings are lines on standard error, unless a program wants them elsewhere."""


def _wait() -> None:
    """Nobody is told of others that work."""


def cache_directory() -> Path:
    """Where built simulators, netlists and quantized models are kept."""
    chosen = os.environ.get(CACHE_VARIABLE)
    return Path(chosen).absolute() if chosen else platformdirs.user_cache_path("celosia")


def digest(parts: Iterable[str | bytes]) -> str:
    """A name for `parts`; different parts, or parts cut differently, have different names."""
    state = blake2b(digest_size=_DIGEST_BYTES)
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.hexdigest()


def cached(name: str, make: Callable[[Path], Path], wait: Callable[[], None] = _wait) -> Path:
    """The cached file `name`, made first if it is not there or damaged.

    `make` is given an empty directory to work in, removed afterwards, and returns the file in it
    that is to be kept; `wait` is told where another process makes it.  Raises `EnvironmentProblem`
    when the cache cannot be written.
    """
    if path := sound(name):
        return path
    path = cache_directory() / name
    with _as_problem(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with _lock(path, wait):
            if not path.exists():
                with _workplace(path) as work:
                    _keep(make(work), path)
    return path


def sound(name: str) -> Path | None:
    """The cached file `name`; None if it is not there.

    One that is not as it was made is removed, and a warning says so.  Raises `EnvironmentProblem`
    when it cannot be removed.
    """
    path = cache_directory() / name
    if not path.exists() or not _damage(path):
        return path if path.exists() else None
    with _as_problem(path), _lock(path):
        if not path.exists():
            return None
        if damage := _damage(path):  # Another process may have made it again.
            _LOG.warning("celosia: cache: %s; it is made again", damage)
            path.unlink()
            return None
    return path


def _damage(path: Path) -> str:
    """What is wrong with the file at `path`; nothing if it is as it was made."""
    try:
        record = parse_json(read_text(_record(path), _RECORD_BYTES))
        size, expected = int(record["size"]), record["digest"]
    except (ForeignFileError, ValueError, TypeError, KeyError):
        return f"{path}: has no record of its size and digest"
    try:
        with open_foreign(path, size) as file:
            if (held := os.fstat(file.fileno()).st_size) != size:
                return f"{path}: has {held:,} of {size:,} bytes"
            found = _digest_of(file)
    except ForeignFileError as error:
        return str(error)
    return "" if found == expected else f"{path}: is not as it was made"


def _digest_of(file: BufferedReader) -> str:
    return hashlib.file_digest(file, lambda: blake2b(digest_size=_DIGEST_BYTES)).hexdigest()


def _keep(made: Path, path: Path) -> None:
    """Move `made` to `path`, after its record."""
    with open(made, "rb") as file:
        values = {"size": made.stat().st_size, "digest": _digest_of(file)}
    record = made.with_name(f"{made.name}.record")
    record.write_text(json.dumps(values))
    os.replace(record, _record(path))
    os.replace(made, path)


def _record(path: Path) -> Path:
    return path.with_name(f".{path.name}.record")


@contextmanager
def _as_problem(path: Path) -> Iterator[None]:
    """Turn an error of the system's into one that says what to set."""
    try:
        yield
    except OSError as error:
        place = error.filename or path
        raise EnvironmentProblem(
            f"cache: {place}: {error.strerror}; "
            f"set {CACHE_VARIABLE} to a directory that can be written and has space"
        ) from error


@contextmanager
def _lock(path: Path, wait: Callable[[], None] = _wait) -> Iterator[None]:
    """Wait until no other process makes `path`.  The lock goes away with its process."""
    with open(path.with_name(f".{path.name}.lock"), "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            wait()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def _workplace(path: Path) -> Iterator[Path]:
    """An empty directory beside `path`; those of processes that were killed are removed.

    Each is locked by its process, so that what nobody holds is nobody's; and nobody looks while one
    is made.
    """
    with ExitStack() as stack:
        with _lock(path.with_name("making")):
            for other in path.parent.glob(f"{_MAKING}*"):
                with suppress(OSError), _held(other):
                    shutil.rmtree(other)
            place = tempfile.TemporaryDirectory(dir=path.parent, prefix=_MAKING)
            work = Path(stack.enter_context(place))
            stack.enter_context(_held(work))
        yield work


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Raises `BlockingIOError` if another process has the folder."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)
