"""A directory of files that are named by the hash of all that they were made from.

Nothing in it is ever changed: a file appears complete, under its final name, in one step.  So two
processes may fill it at once; a lock only saves them from doing the same work twice.
"""

import fcntl
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

import platformdirs

from celosia.sim.support.errors import EnvironmentProblem

__all__ = ["CACHE_VARIABLE", "cache_directory", "cached", "digest"]

CACHE_VARIABLE = "CELOSIA_CACHE"
"""Names the directory, if it shall not be the user's cache directory."""


def cache_directory() -> Path:
    """Where built simulators are kept."""
    chosen = os.environ.get(CACHE_VARIABLE)
    return Path(chosen).absolute() if chosen else platformdirs.user_cache_path("celosia")


def digest(parts: Iterable[str | bytes]) -> str:
    """A name for `parts`; different parts, or parts cut differently, have different names."""
    state = blake2b(digest_size=16)
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.hexdigest()


def cached(name: str, make: Callable[[Path], Path]) -> Path:
    """The cached file `name`, made first if it is not there.

    `make` is given an empty directory to work in, removed afterwards, and returns the file in it
    that is to be kept.  Raises `EnvironmentProblem` when the cache cannot be written.
    """
    path = cache_directory() / name
    if path.exists():
        return path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _lock(path), tempfile.TemporaryDirectory(dir=path.parent, prefix=".making-") as work:
            if not path.exists():
                os.replace(make(Path(work)), path)
    except OSError as error:
        place = error.filename or path
        raise EnvironmentProblem(
            f"cache of built simulators: {place}: {error.strerror}; "
            f"set {CACHE_VARIABLE} to a directory that can be written and has space"
        ) from error
    return path


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Wait until no other process makes `path`.  The lock goes away with its process."""
    with open(path.with_name(f".{path.name}.lock"), "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
