"""Results that take long, made once for all processes of a test run."""

import fcntl
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

__all__ = ["of_this_run", "set_folder"]

_FOLDER: list[Path] = []


def set_folder(factory: pytest.TempPathFactory) -> None:
    """Say where the results of this run are: `factory` is that of any of its processes."""
    base = factory.getbasetemp()
    # Workers of xdist have folders of their own, beside each other.
    _FOLDER[:] = [base.parent if "PYTEST_XDIST_WORKER" in os.environ else base]


def of_this_run(name: str, make: Callable[[], Any]) -> Any:
    """What `make` returns, from the first process that asks for `name`; the others wait for it."""
    if not _FOLDER:
        return make()
    path = _FOLDER[0] / f"{name}.pickle"
    with open(path.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            path.write_bytes(pickle.dumps(make()))
        return pickle.loads(path.read_bytes())
