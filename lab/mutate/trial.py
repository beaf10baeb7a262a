"""One fault in a copy of the tree, and the tests that should notice it."""

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from celosia.lab.mutate.fault import Fault, plant
from celosia.lab.mutate.mirrors import LAYERS, mirrored_tests
from celosia.sim.support.problems import InputError

__all__ = [
    "GENERATED",
    "PLANTED",
    "Ended",
    "Rules",
    "Trial",
    "environment",
    "faulty_copy",
    "try_fault",
]

_COPIED: Final = (*LAYERS, "api", "tests", "benchmarks", "docs", "examples", "requirements")
_BROKEN, _WRONG_ARGUMENTS, _NO_TESTS = 2, 4, 5
"""Exit codes of pytest; the first is that of errors while tests are collected, too."""
_CONFTEST: Final = "Error while loading conftest"
"""What pytest says, as if arguments were wrong, of a fault with which fixtures cannot be loaded."""
_MEMORY_BYTES: Final = 16 << 30
"""What a process of tests may allocate: a fault that asks for ever more fails, and nothing else."""
_DEADLINES: Final = re.compile(
    r"^(?! ).*(?:did not finish in|TimeoutExpired|watchdog|cycle budget|timed out)", re.MULTILINE
)
"""What a failure says that a test's own deadline made.  Lines of sources, which tracebacks indent,
say nothing: one names a watchdog wherever something was simulated."""
_FAILED: Final = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


@dataclass(frozen=True)
class Rules:
    """How the tests of a fault are run."""

    marked: bool
    """Whether tests that `make test` leaves out run as well."""
    seconds: int
    """A run that takes longer is killed from outside, which is not its tests' merit."""


PLANTED: Final = Rules(marked=True, seconds=900)
GENERATED: Final = Rules(marked=False, seconds=300)


class Ended(StrEnum):
    """How a run of tests ended."""

    PASSED = "passed"
    FAILED = "failed"
    DEADLINE = "failed by a deadline of its own"
    KILLED = "killed from outside"


@dataclass(frozen=True)
class Trial:
    """What became of a fault."""

    name: str
    title: str
    caught_by: str
    """The run that failed; empty if none did."""
    seconds: float
    ended: str = Ended.PASSED
    """How the last run ended, one of `Ended`.  One that had to be killed caught nothing."""
    test: str = ""
    """The test that failed, as pytest names it; empty if pytest does not say."""


def try_fault(fault: Fault, root: Path, rules: Rules, running: set[int]) -> Trial:
    """Plant `fault` in a copy of `root` and run its tests until one notices.

    The processes that run are in `running`, for whoever must end them.
    """
    started = time.monotonic()
    killed = ""
    with faulty_copy(fault, root) as tree:
        for tests in fault.tests or mirrored_tests(fault, root):
            ended, test = _run_tests(tree, tests, rules, running)
            if ended in {Ended.FAILED, Ended.DEADLINE}:
                seconds = time.monotonic() - started
                return Trial(fault.name, fault.title, tests, seconds, ended, test)
            if ended is Ended.KILLED:
                killed = tests
    ended = Ended.KILLED if killed else Ended.PASSED
    return Trial(fault.name, fault.title, "", time.monotonic() - started, ended, killed)


@contextmanager
def faulty_copy(fault: Fault, root: Path) -> Iterator[Path]:
    """A copy of the checkout at `root` with `fault`."""
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
        (tree / "celosia" / "__init__.py").symlink_to(tree / "api" / "__init__.py")
        for name in (*LAYERS, "docs"):
            (tree / "celosia" / name).symlink_to(tree / name)
        plant(fault, tree)
        yield tree


def environment(tree: Path) -> dict[str, str]:
    """Environment variables with which Python finds the package of the checkout at `tree`."""
    return os.environ | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}


def _run_tests(tree: Path, tests: str, rules: Rules, running: set[int]) -> tuple[Ended, str]:
    """How a run of `tests`, arguments of pytest, ends in `tree`, and the test that failed.

    Raises `InputError` if there is nothing to run.
    """
    command = [sys.executable, "-m", "pytest", "-x", "-q", *(("-m", "") if rules.marked else ())]
    # Pytest's own tracebacks parse sources, which fails in some places deep inside of simulations.
    command += ["-p", "no:cacheprovider", "--tb=native"]
    process = subprocess.Popen(
        [*command, *tests.split()],
        cwd=tree,
        env=environment(tree),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    running.add(process.pid)
    if sys.platform == "linux":
        with suppress(ProcessLookupError):
            resource.prlimit(process.pid, resource.RLIMIT_DATA, (_MEMORY_BYTES, _MEMORY_BYTES))
    try:
        said, _ = process.communicate(timeout=rules.seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return Ended.KILLED, ""
    finally:
        running.discard(process.pid)
    nothing = process.returncode == _NO_TESTS and rules.marked
    unread = process.returncode == _BROKEN and "rror" not in said
    wrong = process.returncode == _WRONG_ARGUMENTS and _CONFTEST not in said
    if nothing or unread or wrong:
        raise InputError(f"pytest {tests} ran nothing: {said.strip()[-300:]}")
    if process.returncode in {0, _NO_TESTS}:
        return Ended.PASSED, ""
    found = _FAILED.search(said)  # None: not even imported, or Python itself crashed.
    late = _DEADLINES.search(said)
    return (Ended.DEADLINE if late else Ended.FAILED), found[1] if found else ""
