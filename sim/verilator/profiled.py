"""Simulators that are compiled a second time, with a profile of a run.

GCC then knows which branches are taken, and what never runs: a cycle takes a tenth less.  That is
worth two compilations of the C++ and a run only where a simulation is long, so somebody else
decides (`celosia.sim.run.opening`).  One that is in the cache is used by every run.  What it
computes is the same: Verilog, compiler and options are in its name, as in that of the first.
"""

import os
from collections.abc import Callable
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.sim.support.cache import cached, digest, sound
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.progress import Progress, silent
from celosia.sim.verilator.build import (
    compile_model,
    model_library,
    model_parts,
    translate,
    usual_verilog,
)
from celosia.sim.verilator.build_options import USUAL
from celosia.sim.verilator.kept import kept_name, unpack
from celosia.sim.verilator.toolchain import find_compiler, run_tools

__all__ = [
    "PAYS",
    "PROFILED_VARIABLE",
    "Profiled",
    "build_profiled",
    "profiled",
    "profiled_wish",
]

PROFILED_VARIABLE: Final = "CELOSIA_PROFILED"
"""Says when simulators are compiled with a profile: one of `Profiled`."""
PAYS: Final = 350_000_000
"""Cycles of a run from which on it is shorter with the build than without: for `base` the build
takes 26 s of a server core, and a cycle then 0.075 microseconds less."""

_SECONDS_PER_MIB: Final = 3.6
"""Processor time for each MiB of C++ that runs in each cycle, about."""
_MISLEADING: Final = ("GCOV_PREFIX", "GCOV_PREFIX_STRIP", "GCOV_EXIT_AT_ERROR")
"""Variables that would have a profile written elsewhere."""
_RECORD: Final = ("-fprofile-generate", "-fprofile-update=single")
_USE: Final = (
    *("-fprofile-use", "-Wno-missing-profile"),
    # GCC would unroll, copy and turn into vectors what is hot: a sixth more code and time to
    # compile, and not faster.
    *("-fno-unroll-loops", "-fno-peel-loops", "-fno-split-loops", "-fno-unswitch-loops"),
    *("-fno-tracer", "-fno-inline-functions", "-fno-ipa-cp"),
    *("-fno-tree-loop-vectorize", "-fno-tree-slp-vectorize"),
)


class Profiled(StrEnum):
    """When simulators are compiled with a profile."""

    AUTO = "auto"
    """Before a run that is long enough; one that is there is used by all."""
    ALWAYS = "always"
    """Before every run."""
    NEVER = "never"
    """Not at all, and none that is there is used."""


def profiled_wish() -> Profiled:
    """What `PROFILED_VARIABLE` says.  Raises `EnvironmentProblem` for anything else."""
    value = os.environ.get(PROFILED_VARIABLE) or Profiled.AUTO
    try:
        return Profiled(value)
    except ValueError:
        legal = ", ".join(Profiled)
        raise EnvironmentProblem(f"{PROFILED_VARIABLE}: {value!r} is none of {legal}") from None


def profiled(plain: Path) -> Path | None:
    """The simulator `plain` compiled with a profile; None: the cache has none, or none is wanted.

    Raises `EnvironmentProblem` for a value of `PROFILED_VARIABLE` that means nothing.
    """
    return None if profiled_wish() is Profiled.NEVER else sound(_name(plain))


def build_profiled(
    config: AcceleratorConfig, record: Callable[[Path], list[str]], progress: Progress = silent
) -> Path | None:
    """The simulator of `config` compiled with a profile, built if the cache does not have it.

    `record` makes the command that runs a program on a library.  None: the compiler is not GCC.
    Raises `EnvironmentProblem` when a tool is missing or fails.
    """
    if not find_compiler().is_gcc:
        return None
    plain = model_library(config, USUAL, progress)

    def make(work: Path) -> Path:
        _sources(config, plain, work, progress)
        progress(_building_text(work), None)
        library = compile_model(work, often=_RECORD, link=_RECORD)
        environment = dict.fromkeys(_MISLEADING, "")
        run_tools([record(library)], work, **environment)
        if not (work / "often.gcda").exists():
            raise EnvironmentProblem("the run that was to record a profile left none")
        return compile_model(work, often=_USE)

    def wait() -> None:
        progress("another process builds the simulator again with a profile", None)

    return cached(_name(plain), make, wait)


def _name(plain: Path) -> str:
    """Where the cache has the profiled simulator: all that `plain` is made from is in its name."""
    return f"profiled/{digest([plain.name, _this()])}.so"


@cache
def _this() -> str:
    return Path(__file__).read_text()


def _sources(config: AcceleratorConfig, plain: Path, work: Path, progress: Progress) -> None:
    """Put into `work` what `plain` was compiled from; translate again what is not there."""
    if kept := sound(kept_name(plain.stem)):
        unpack(kept, work)
    else:
        progress("writing the Verilog", None)
        translate(usual_verilog(config), config, USUAL, work, progress)


def _building_text(work: Path) -> str:
    often, _ = model_parts(work)
    seconds = sum(part.stat().st_size for part in often) / (1 << 20) * _SECONDS_PER_MIB
    return (
        f"building the simulator again with a profile: {max(seconds, 1):.0f} s, "
        f"pays after {PAYS:,} cycles"
    )
