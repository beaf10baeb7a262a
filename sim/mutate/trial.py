"""One fault in a copy of the tree, and the tests that should notice it."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from celosia.sim.mutate.patch import Patch, apply_patch
from celosia.sim.support.problems import InputError

__all__ = ["LAYERS", "Trial", "environment", "faulty_copy", "mirrored_tests", "try_fault"]

LAYERS: Final = ("isa", "hw", "sw", "sim")
_COPIED: Final = (*LAYERS, "tests", "benchmarks", "docs", "examples", "requirements")
_DIRECTED: Final = {
    "hw": (
        "tests/system/test_differential.py",
        "tests/hw/test_accelerator.py",
        "tests/hw/host/test_axi_top.py",
        "tests/hw/host/test_axi_errors.py",
        "tests/system/test_recovery.py",
        "tests/system/test_operators.py",
        "tests/system/test_hostile_bus.py",
        "tests/system/test_tokens.py",
        "tests/system/test_loops.py",
        "tests/system/test_loop_ws.py",
        "tests/system/test_bert.py",
    ),
    "isa": ("tests/isa", "tests/system/test_differential.py"),
    "sw": ("tests/sw", "tests/system/test_graphs.py"),
    "sim": ("tests/sim",),
}
"""What is run for a foreign patch, by layer, when the mirrored tests notice nothing."""
_RIGHT, _WRONG, _BROKEN, _NOTHING = 0, 1, 2, 5
_SECONDS: Final = 900
"""A test run that takes longer has noticed something: the fault hangs."""


@dataclass(frozen=True)
class Trial:
    """What became of a fault."""

    name: str
    title: str
    caught_by: str
    """The run that failed; empty if none did."""
    seconds: float


def mirrored_tests(patch: Patch, root: Path) -> tuple[str, ...]:
    """For a patch that names no tests: what mirrors its files, its neighbors, directed ones."""
    tests: dict[str, None] = {}
    neighbors: dict[str, None] = {}
    layers: dict[str, None] = {}
    for file in patch.files:
        path = PurePosixPath(file.path)
        if path.parts[0] in LAYERS:
            layers[path.parts[0]] = None
            mirror = PurePosixPath("tests") / path.with_name(f"test_{path.name}")
            if (root / mirror).is_file():
                tests[str(mirror)] = None
            for near in sorted((root / mirror.parent).glob("test_*.py")):
                neighbors[near.relative_to(root).as_posix()] = None
    tests |= neighbors
    for layer in layers:
        tests |= dict.fromkeys(_DIRECTED[layer])
    if not tests:
        raise InputError(f"{patch.name}: touches nothing in {', '.join(LAYERS)}")
    return tuple(tests)


def try_fault(patch: Patch, root: Path, running: set[int]) -> Trial:
    """Plant `patch` in a copy of `root` and run its tests until one notices.

    The processes that run are in `running`, for whoever must end them.
    """
    started = time.monotonic()
    tests = patch.tests or mirrored_tests(patch, root)
    with faulty_copy(patch, root) as tree:
        for test in tests:
            if _notices(tree, test, patch.name, running):
                return Trial(patch.name, patch.title, test, time.monotonic() - started)
    return Trial(patch.name, patch.title, "", time.monotonic() - started)


@contextmanager
def faulty_copy(patch: Patch, root: Path) -> Iterator[Path]:
    """A copy of the checkout at `root` with `patch`."""
    with tempfile.TemporaryDirectory(prefix="celosia-mutate-") as place:
        tree = Path(place)
        skip: Callable = shutil.ignore_patterns("__pycache__", "*.pyc")
        for name in _COPIED:
            if (root / name).is_dir():
                shutil.copytree(root / name, tree / name, ignore=skip)
        for file in root.iterdir():
            if file.is_file():
                shutil.copy2(file, tree)
        # The package's name for the layers, before that of the checkout it is installed from.
        (tree / "celosia").mkdir()
        for layer in LAYERS:
            (tree / "celosia" / layer).symlink_to(tree / layer)
        apply_patch(patch, tree)
        yield tree


def environment(tree: Path) -> dict[str, str]:
    """In which Python finds the package of the checkout at `tree`."""
    return os.environ | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}


def _notices(tree: Path, test: str, name: str, running: set[int]) -> bool:
    """Whether a run of `test`, arguments of pytest, fails in `tree`."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", ""]
    # Pytest's own tracebacks parse sources, which fails in some places deep inside of simulations.
    command += ["-p", "no:cacheprovider", "--tb=native"]
    process = subprocess.Popen(
        [*command, *test.split()],
        cwd=tree,
        env=environment(tree),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    running.add(process.pid)
    try:
        said, _ = process.communicate(timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return True
    finally:
        running.discard(process.pid)
    if process.returncode in {_RIGHT, _WRONG}:
        return process.returncode == _WRONG
    if process.returncode == _BROKEN and "rror" in said:
        return True  # Not even imported.
    raise InputError(f"{name}: pytest {test} ran nothing: {said.strip()[-300:]}")
