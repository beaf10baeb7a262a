"""Which tests are run for a change that names none."""

import re
from collections.abc import Mapping, Sequence, Set
from functools import cache
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import Final

from celosia.lab.mutate.fault import Fault
from celosia.sim.support.problems import InputError

__all__ = ["LAYERS", "mirrored_tests", "nearest_tests", "own_tests", "whole_tests"]

LAYERS: Final = ("isa", "hw", "sw", "sim", "lab")
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
    "lab": ("tests/lab",),
}
"""What is run for a foreign patch, by layer, when the mirrored tests notice nothing."""
_NEAREST: Final = 3
"""Files of tests that are run for a change that those of its own file let pass."""
_IMPORT: Final = re.compile(
    r"""(?:^ *(?:from|import) |import_module\(")(celosia|celosia[\w.]+|tests[\w.]+)(?= |"|$)""",
    re.MULTILINE,
)
"""An import, also one in a function, or of a module that is loaded when it is needed."""
_COMMAND: Final = re.compile(r'^    Command\("([\w-]+)", [\w.]+, "([\w.]+):', re.MULTILINE)
"""An entry of the tables of commands: a command and the module that does it."""
_TOP: Final = "api"
"""The folder of the package itself, which imports layers, too."""
_IMPORTING: Final = (*LAYERS, _TOP, "tests")
"""Folders in which files import what tests look at; helpers of tests are among them."""
_WHOLE: Final = {
    "hw": ("tests/hw/test_documentation.py", "tests/hw/test_resets.py"),
    "sw": (
        "tests/sw/test_largest.py",
        "tests/sw/test_said_numbers.py",
        "tests/sw/test_shown.py",
        "tests/sw/compiler/test_frozen_plans.py",
        "tests/sw/compiler/test_frozen_programs.py",
        "tests/sw/quantize/test_frozen.py",
    ),
    "sim": (
        "tests/sim/test_largest.py",
        "tests/sim/test_said_numbers.py",
        "tests/sim/test_shown.py",
        "tests/sim/command/options/test_command_lines.py",
        "tests/sim/command/options/test_each_option.py",
        "tests/sim/reporting/test_frozen.py",
    ),
    "lab": ("tests/lab/test_said_numbers.py",),
}
"""Tests that look at every file of a layer."""


def mirrored_tests(fault: Fault, root: Path) -> tuple[str, ...]:
    """Tests for a patch that names none: mirrors of its files, their neighbors, directed ones."""
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

    1. Its mirror: `sw/a/b.py` has `tests/sw/a/test_b.py`, `tests/sw/a/test_b_*.py`, all of
       `tests/sw/a/b/`; else the mirror of a shorter name (`test_b.py` for `b_c.py`), and
       `tests/sw/test_a.py`.
    2. Without one: the test files of its layer that import it.
    3. Not imported by any: those of the files that import it, sources or helpers of tests, by these
       rules.
    4. Without these: the test files of the mirrored folder, or the nearest one above it.

    And those of the mirrored folder that answer for no file of it alone: they look at all of it.
    """
    left, seen, found = [path], {path}, set[Path]()
    while left and not found:
        for each in left:
            tests = "tests/" + (path if each.startswith("tests/") else each).partition("/")[0]
            found |= _mirrors(each, root) or _importers(each, root, tests, "test_*.py")
        left = _next_importers(left, seen, root)
    folder = root / "tests" / PurePosixPath(path).parent
    while not found and folder != root:
        found = {*folder.glob("test_*.py")}
        folder = folder.parent
    found |= _shared_tests(PurePosixPath(path).parent.as_posix(), root)
    return tuple(sorted(test.relative_to(root).as_posix() for test in found))


def nearest_tests(path: str, root: Path) -> tuple[str, ...]:
    """Test files of any layer that import the source file `path` and are not its `own_tests`.

    At most three: those with the most folders in common with its mirror, then the least deep ones.
    If they are fewer, those follow that import what imports it, and so on; then, if commands are
    among all these, which no file imports, those that call them most often on the command line.
    """
    folder = (PurePosixPath("tests") / PurePosixPath(path).parent).parts
    own = own_tests(path, root)

    def distance(test: str) -> tuple[int, int, str]:
        parts = PurePosixPath(test).parts
        common = takewhile(lambda pair: pair[0] == pair[1], zip(parts, folder, strict=False))
        return -sum(1 for _ in common), len(parts), test

    left, seen, nearest = [path], {path}, list[str]()
    while left and len(nearest) < _NEAREST:
        found = {
            test.relative_to(root).as_posix()
            for each in left
            for test in _importers(each, root, "tests", "test_*.py")
        }
        nearest += sorted(found.difference(own, nearest), key=distance)
        left = _next_importers(left, seen, root)
    nearest += (each for each in _callers(seen, root) if each not in {*own, *nearest})
    return tuple(nearest[:_NEAREST])


def _callers(paths: Set[str], root: Path) -> list[str]:
    """The test files that call commands of the source files `paths`, the most frequent first."""
    tables = (root / layer / "commands.py" for layer in LAYERS)
    modules = {_module(path.removesuffix(".py")) for path in paths}
    entries = [
        each for file in tables if file.is_file() for each in _COMMAND.findall(file.read_text())
    ]
    words = [f'"{name}"' for name, module in entries if module in modules]
    calls = {
        test.relative_to(root).as_posix(): sum(map(test.read_text().count, words))
        for test in _imports(root / "tests", "test_*.py").get("tests.support.command_line", ())
    }
    return sorted((test for test in calls if calls[test]), key=lambda test: (-calls[test], test))


def whole_tests(path: str, root: Path) -> tuple[str, ...]:
    """The test files that look at every file of the layer of the source file `path`."""
    return tuple(test for test in _WHOLE.get(path.partition("/")[0], ()) if (root / test).is_file())


def _next_importers(files: Sequence[str], seen: set[str], root: Path) -> list[str]:
    """The source files that import one of `files` and are not in `seen`, which then has them."""
    new = [
        importer.relative_to(root).as_posix()
        for each in files
        for folder in _IMPORTING
        for importer in sorted(_importers(each, root, folder, "*.py"))
    ]
    new = [each for each in dict.fromkeys(new) if each not in seen]
    seen.update(new)
    return new


def _mirrors(path: str, root: Path) -> set[Path]:
    file = PurePosixPath(path)
    folder, stem = root / "tests" / file.parent, file.stem
    patterns = (f"test_{stem}.py", f"test_{stem}_*.py", f"{stem}/test_*.py")
    own = {test for pattern in patterns for test in folder.glob(pattern)}
    while not own and "_" in stem.strip("_"):
        stem = stem.rpartition("_")[0]
        own = {*folder.glob(f"test_{stem}.py")}
    return own or {*folder.parent.glob(f"test_{folder.name}.py")}


@cache
def _shared_tests(folder: str, root: Path) -> frozenset[Path]:
    """The tests of `folder` that mirror no file or folder in it, and import none of its files."""
    sources = [path.relative_to(root).as_posix() for path in (root / folder).glob("*.py")]
    known = {test for each in sources for test in _mirrors(each, root)}
    for module, files in _imports(root / "tests" / folder, "test_*.py").items():
        if module.startswith(_module(folder) + "."):
            known |= files
    tests = (root / "tests" / folder).glob("test_*.py")
    inner = {path.name for path in (root / folder).glob("*") if path.is_dir()}
    return frozenset(each for each in tests if each.stem[len("test_") :] not in inner) - known


def _importers(path: str, root: Path, folder: str, pattern: str) -> set[Path]:
    """The files of `folder` that import the source file `path`."""
    module = _module(path.removesuffix(".py").removesuffix("/__init__"))
    return _imports(root / folder, pattern).get(module, set())


def _module(path: str) -> str:
    """The name by which the file or folder `path` is imported."""
    name = path.replace("/", ".")
    return name if path.startswith("tests/") else f"celosia.{name}".removesuffix(f".{_TOP}")


@cache
def _imports(folder: Path, pattern: str) -> Mapping[str, set[Path]]:
    """The files of `folder` that import each module."""
    importers: dict[str, set[Path]] = {}
    for file in folder.rglob(pattern):
        for module in _IMPORT.findall(file.read_text()):
            importers.setdefault(module, set()).add(file)
    return importers
