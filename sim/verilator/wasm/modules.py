"""Compiles the simulator of a configuration to WebAssembly, for browsers and Node.

The C++ is that of the native simulator, translated from the same Verilog; the compiler is Clang, as
the package ``ziglang`` brings it with a C++ library for WASI.  What that system lacks is in
`alone.h`; what JavaScript must give to a module is in `wasi.js`.  Modules are kept in the cache by
the hash of all that they are made from.
"""

import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from importlib import import_module, metadata
from pathlib import Path
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.sim.support.cache import cache_directory, cached, digest, sound
from celosia.sim.support.extras import check_extra
from celosia.sim.support.progress import Progress, silent
from celosia.sim.verilator.build import (
    HARNESS,
    LANGUAGE,
    RUNTIME,
    includes,
    model_parts,
    rtl_key,
    translate,
    translation,
    unit,
    usual_verilog,
)
from celosia.sim.verilator.build_options import USUAL
from celosia.sim.verilator.toolchain import find_verilator, run_tools

__all__ = ["EXPORTS", "EXTRA", "check_compiler", "is_compiled", "wasm_module"]

EXTRA: Final = "page"
"""The extra that has the compiler."""
EXPORTS: Final = (
    *("malloc", "free"),
    *("celosia_create", "celosia_destroy", "celosia_reset", "celosia_memory", "celosia_load"),
    *("celosia_run", "celosia_towards", "celosia_access", "celosia_status", "celosia_watch"),
)
"""The functions that JavaScript may call: those of `c_api.h`, `harness.cpp` and `watched.cpp`, and
room for what they are given."""

_PACKAGE: Final = "ziglang"
_HERE: Final = Path(__file__).parent
_HEADER: Final = _HERE / "alone.h"
_SYSTEM: Final = _HERE / "alone.cpp"
_WATCHED: Final = _HERE / "watched.cpp"
_NAMES: Final = (_HERE / "watched.py", _HERE / "watched_header.py")
_COMPILER: Final = (sys.executable, "-m", _PACKAGE, "c++")
_COMPILE: Final = (
    *("-target", "wasm32-wasi", "-fno-exceptions"),
    # Else this compiler adds checks of what C++ leaves undefined: rare parts then take an hour.
    "-fno-sanitize=all",
    # Sizes of the memory model have 64 bits, those of this system 32.
    "-Wno-c++11-narrowing",
    # Verilator refuses machines that it has never seen.
    "-DVL_IGNORE_UNKNOWN_ARCH",
    *("-include", str(_HEADER)),
)
_OFTEN: Final = ("-O2", "-include", "fast_signs.h")
_RARE: Final = ("-Oz",)
"""What runs once, to set up a model, shall be small: it is sent, too."""
_LINK: Final = ("-mexec-model=reactor", "-Wl,--strip-all")


def wasm_module(config: AcceleratorConfig, progress: Progress = silent) -> Path:
    """The WebAssembly module that simulates the accelerator of `config`.

    Raises `EnvironmentProblem` where it is not in the cache, and a tool to make it is missing.
    """

    def make(work: Path) -> Path:
        progress("writing the Verilog", None)
        translate(usual_verilog(config), config, USUAL, work, progress)
        progress("compiling the C++ to WebAssembly", None)
        _write_watched(config, work)
        return _compile(work)

    def wait() -> None:
        progress("another process compiles the same module", None)

    return cached(_name(config), make, wait)


def is_compiled(config: AcceleratorConfig) -> bool:
    """Whether the cache has the module of `config`.

    Raises `EnvironmentProblem` where a tool is missing that a module's name in the cache holds.
    """
    return sound(_name(config)) is not None


def check_compiler() -> None:
    """Raise `EnvironmentProblem` unless there is the compiler."""
    check_extra(_PACKAGE, EXTRA)


def _name(config: AcceleratorConfig) -> str:
    """Where the cache has the module of a configuration."""
    check_compiler()
    parts = [_identity(), repr((_OFTEN, _RARE, _LINK, EXPORTS)), *translation(), *_texts()]
    parts += [path.read_text() for path in (_WATCHED, *_NAMES)]
    return f"wasm/{digest([*parts, rtl_key(config), repr(asdict(config))])}.wasm"


def _write_watched(config: AcceleratorConfig, work: Path) -> None:
    # It loads Amaranth.
    import_module("celosia.sim.verilator.wasm.watched_header").write_header(config, work)


def _identity() -> str:
    # The command has the interpreter's path in it: another one makes the same module.
    flags = (*LANGUAGE, *_COMPILE)
    return f"{_PACKAGE} {metadata.version(_PACKAGE)} {[Path(flag).name for flag in flags]}"


def _texts() -> Iterable[str]:
    for path in (_HEADER, _SYSTEM):
        yield path.read_text()


def _compile(work: Path) -> Path:
    """The module of what `translate` has left in `work`."""
    often, rare = model_parts(work)
    verilator = find_verilator()
    command = [*_COMPILER, *LANGUAGE, *_COMPILE, *includes(verilator)]
    name = f"wasm/{digest([_identity(), verilator.identity, RUNTIME.read_text(), *_texts()])}.o"
    jobs = [
        [*command, *_OFTEN, *unit(work, "often", [*often, HARNESS, _WATCHED])],
        [*command, *_RARE, *unit(work, "rare", rare)],
    ]
    if not sound(name):
        jobs.append([*command, *_RARE, *unit(work, "runtime", [RUNTIME, _SYSTEM])])
    run_tools(jobs, work, **_places(work))
    objects = ["often.o", "rare.o", str(cached(name, lambda _: work / "runtime.o"))]
    module = work / "model.wasm"
    exports = [f"-Wl,--export={each}" for each in EXPORTS]
    link = [*_COMPILER, "-target", "wasm32-wasi", *_LINK, *exports, *objects, "-o", str(module)]
    run_tools([link], work, **_places(work))
    return module


def _places(work: Path) -> Mapping[str, str]:
    """Where the compiler keeps its C++ library, once compiled, and what it needs meanwhile."""
    kept = cache_directory() / _PACKAGE
    return {"ZIG_GLOBAL_CACHE_DIR": str(kept), "ZIG_LOCAL_CACHE_DIR": str(work / "zig")}
