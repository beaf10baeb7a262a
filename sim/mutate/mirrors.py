"""Which tests are run for a change that names none."""

from pathlib import Path, PurePosixPath
from typing import Final

from celosia.sim.mutate.fault import Fault
from celosia.sim.problems import InputError

__all__ = ["LAYERS", "mirrored_tests", "own_tests"]

LAYERS: Final = ("isa", "hw", "sw", "sim")
_DIRECTED: Final = {
    "hw": (
        "tests/system/test_differential.py",
        "tests/hw/test_accelerator.py",
        "tests/hw/test_axi_top.py",
        "tests/hw/test_axi_errors.py",
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


def mirrored_tests(fault: Fault, root: Path) -> tuple[str, ...]:
    """For a patch that names no tests: what mirrors its files, its neighbors, directed ones."""
    tests: dict[str, None] = {}
    neighbors: dict[str, None] = {}
    layers: dict[str, None] = {}
    for each in fault.paths:
        path = PurePosixPath(each)
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
        raise InputError(f"{fault.name}: touches nothing in {', '.join(LAYERS)}")
    return tuple(tests)


def own_tests(path: str, root: Path) -> tuple[str, ...]:
    """The test files that answer for the source file `path` alone: the first of these rules.

    1. Its mirror, with what carries on its name: `sw/a/b.py` has `tests/sw/a/test_b.py` and
       `tests/sw/a/test_b_*.py`.
    2. Without one: every test file that imports it.
    3. Not imported by any: the test files of the mirrored folder, or the nearest one above it.
    """
    file = PurePosixPath(path)
    folder = root / "tests" / file.parent
    mirrors = [*folder.glob(f"test_{file.stem}.py"), *folder.glob(f"test_{file.stem}_*.py")]
    if not mirrors:
        module = "celosia." + ".".join((*file.parent.parts, file.stem))
        phrases = (f"from {module} import ", f"import {module}")
        mirrors = [
            test
            for test in (root / "tests").rglob("test_*.py")
            if any(phrase in test.read_text() for phrase in phrases)
        ]
    while not mirrors and folder != root:
        mirrors = [*folder.glob("test_*.py")]
        folder = folder.parent
    return tuple(sorted(test.relative_to(root).as_posix() for test in mirrors))
