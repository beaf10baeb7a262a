"""The C host library, built once for all tests, and programs on top of it."""

import atexit
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

from celosia.isa.encoding import Command, pack_ring
from celosia.isa.memory import MEMORY_BASE
from celosia.isa.presets import resolve_config
from celosia.sim.c_host import build
from celosia.sim.c_host.build import build_c_host
from celosia.sim.c_host.constants import isa_header
from celosia.sim.verilator.toolchain import find_compiler

__all__ = ["CHost", "c_host", "compile_parts"]

_PLAYER = Path(__file__).parents[1] / "sim" / "c_host" / "player.c"
_STRICT = ("-Wall", "-Wextra", "-Werror", "-pedantic", "-O1")


@dataclass(frozen=True)
class CHost:
    """A built library."""

    root: Path
    preset: str

    @property
    def library(self) -> Path:
        return self.root / "lib" / "libcelosia.so"

    def compile(self, source: Path, out: Path, *options: str, language: str = "c99") -> Path:
        """The program of one file; warnings are errors."""
        kind = "c++" if "++" in language else "c"
        includes = [self.root / "include", self.root / "include" / "gemmini" / self.preset]
        command = [
            *find_compiler().command,
            *("-x", kind, f"-std={language}", *_STRICT, *options),
            *(f"-I{path}" for path in (*includes, source.parent)),
            *(str(source), "-x", "none", f"-L{self.library.parent}", "-lcelosia", "-lm"),
            *(f"-Wl,-rpath,{self.library.parent}", "-o", str(out)),
        ]
        # A C++ compiler that is told to compile C links as C++, which does no harm.
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return out

    def run(self, program: Path, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a program to its end."""
        variables = {**os.environ, "CELOSIA_PRESET": self.preset, **environment}
        return subprocess.run(
            [str(program)], env=variables, capture_output=True, text=True, timeout=300, check=False
        )

    def play(self, commands: Sequence[Command], memory: bytes) -> bytes:
        """All of memory, which is at `MEMORY_BASE`, after these commands."""
        done, after = self._play(commands, memory)
        assert done.returncode == 0, done.stderr
        return after

    def refusal(self, commands: Sequence[Command], memory: bytes = bytes(4096)) -> str:
        """What standard error has to say of these commands, one of which is refused."""
        done, _ = self._play(commands, memory)
        assert done.returncode == 1, done
        return done.stderr

    def _play(
        self, commands: Sequence[Command], memory: bytes
    ) -> tuple[subprocess.CompletedProcess[str], bytes]:
        with TemporaryDirectory() as name:
            files = [Path(name, part) for part in ("memory", "commands", "result")]
            files[0].write_bytes(memory)
            files[1].write_bytes(pack_ring(commands))
            words = [str(_player(self)), hex(MEMORY_BASE), *map(str, files)]
            variables = {**os.environ, "CELOSIA_PRESET": self.preset}
            done = subprocess.run(
                words, env=variables, capture_output=True, text=True, timeout=300, check=False
            )
            return done, files[2].read_bytes() if done.returncode == 0 else b""


@cache
def _player(host: CHost) -> Path:
    return host.compile(_PLAYER, host.root / "player")


@cache
def c_host(preset: str = "tiny") -> CHost:
    """The library with one preset, and its model."""
    root = Path(mkdtemp(prefix="celosia-c-host-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    build_c_host(root, {preset: resolve_config(preset)})
    return CHost(root, preset)


def compile_parts(work: Path, own: Path, *parts: str) -> Path:
    """A program of one file and parts of the library; `work` has the headers that are made.

    What is undefined in C++ ends it, where the compiler can tell.
    """
    (work / "isa.h").write_text(isa_header())
    library, program = Path(build.__file__).parent / "library", work / own.stem
    includes = [work, library, library.parents[1] / "verilator" / "harness"]
    command = [
        *find_compiler().command,
        *("-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-fsanitize=undefined"),
        *(f"-I{path}" for path in includes),
        *(*(str(library / part) for part in parts), str(own), "-o", str(program)),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "ubsan" in done.stderr:
        command.remove("-fsanitize=undefined")
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return program
