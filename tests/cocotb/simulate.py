"""Builds a simulator around the Verilog of the bench's accelerator, and runs cocotb tests in it."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

from cocotb_tools.runner import get_runner

from celosia.sim.export.design import Design
from celosia.sim.verilator.toolchain import find_verilator

__all__ = ["run_cases"]

_TIMESCALE: Final = ("1ns", "1ps")

_VARIABLES: Final = {
    # Bytes that are not written may be unknown, which cocotbext-axi cannot take.
    "COCOTB_RESOLVE_X": "random",
    # cocotbext-axi uses names that cocotb 2 has renamed.
    "PYTHONWARNINGS": "ignore::DeprecationWarning",
    "COCOTB_LOG_LEVEL": "WARNING",
    "COCOTB_RANDOM_SEED": "1",
}

_MAKE_FLAGS: Final = "CFG_CXXFLAGS_PCH_I=-include CFG_GCH_IF_CLANG= OPT_FAST=-O1 OPT_SLOW=-O0"
"""Settings that the makefile of the PyPI package lacks."""

_NONE: Final[tuple[list[Path], list[str], dict[str, str]]] = ([], [], {})

_BAD: Final = {"failure", "error", "skipped"}
"""Tags in a report of JUnit's form."""

_TAIL_LINES: Final = 60


def run_cases(simulator: str, design: Design, module: str, work: Path) -> list[str]:
    """Run the cocotb tests of `module` on `design` in the directory `work`: their names.

    Raises `AssertionError` with the end of the log if one fails, or the simulator does not run.
    """
    sources, arguments, variables = _verilator(design, work) if simulator == "verilator" else _NONE
    top = design.top.module
    verilog = work / f"{top}.v"
    verilog.write_text(design.verilog)
    build_log, log = work / "build.log", work / "simulation.log"
    with _environment(variables):
        runner = get_runner(simulator)
        try:
            runner.build(
                sources=[*sources, verilog],
                hdl_toplevel=top,
                build_args=arguments,
                build_dir=work,
                timescale=_TIMESCALE,
                log_file=build_log,
            )
            results = runner.test(
                test_module=module,
                hdl_toplevel=top,
                hdl_toplevel_lang="verilog",
                build_dir=work,
                test_dir=work,
                extra_env=_VARIABLES,
                timescale=_TIMESCALE,
                log_file=log,
            )
        except (RuntimeError, SystemExit) as error:
            raise AssertionError(
                f"{simulator} stopped with {error}:\n{_tail(build_log, log)}"
            ) from None
    cases = list(ElementTree.parse(results).iter("testcase"))
    bad = [case.get("name", "") for case in cases if _BAD & {part.tag for part in case}]
    assert cases, f"{simulator}: no test ran\n{_tail(log)}"
    assert not bad, f"{simulator}: {', '.join(bad)} failed\n{_tail(log)}"
    return [case.get("name", "") for case in cases]


def _verilator(design: Design, work: Path) -> tuple[list[Path], list[str], dict[str, str]]:
    """Further sources, arguments, and the environment, as far as it differs from this one."""
    # cocotb would make every signal public, which takes three times as long to build.
    public = work / "public.vlt"
    lines = [
        f'public_flat_rw -module "{design.top.module}" -var "{port.name}"\n'
        for port in design.ports
    ]
    public.write_text("".join(["`verilator_config\n", *lines]))
    found = find_verilator()
    path = os.pathsep.join([str(Path(found.binary).parent), os.environ.get("PATH", "")])
    variables = {"PATH": path, "VERILATOR_ROOT": str(found.root), "MAKEFLAGS": _MAKE_FLAGS}
    return [public], ["-Wno-fatal", "-Wno-lint", "--no-public-flat-rw"], variables


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """The runner of cocotb looks for programs in this process's own environment."""
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _tail(*logs: Path) -> str:
    lines = [line for log in logs if log.exists() for line in log.read_text().splitlines()]
    return "\n".join(lines[-_TAIL_LINES:])
