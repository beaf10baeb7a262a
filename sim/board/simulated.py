"""A board that is simulated: its design under Verilator, behind a pseudo-terminal."""

import os
import subprocess
import tty
from importlib import import_module
from pathlib import Path
from typing import Final, Self

from celosia.hw.host.board.setup import BoardSetup
from celosia.isa.config import AcceleratorConfig
from celosia.sim.export.silicon.fpga.boards import BOARD_MODULE
from celosia.sim.support.cache import cached, digest
from celosia.sim.support.progress import Progress, silent
from celosia.sim.verilator.build import rtl_key
from celosia.sim.verilator.toolchain import find_compiler, find_verilator, run_tools

__all__ = ["SIMULATED", "SimulatedBoard", "board_program", "board_verilog"]

SIMULATED: Final = BoardSetup(clock_hz=8_000_000, baud=1_000_000, memory_bytes=128 << 10)
"""The board that is simulated if nothing else is said: its bits are as short as can be."""
_SOURCE: Final = Path(__file__).with_name("model.cpp")
_VERILATE: Final = (
    *("--cc", "--prefix", "Vtop", "--top-module", BOARD_MODULE, "--Mdir", "model", "-O3"),
    *("--x-assign", "fast", "--x-initial", "unique", "-Wno-fatal", "-Wno-lint", "-Wno-style"),
)
_COMPILE: Final = ("-std=c++17", "-O1", "-DVL_TIME_CONTEXT", "-Imodel")


def board_verilog(config: AcceleratorConfig, setup: BoardSetup) -> str:
    """The design of a board, for any tool: the module `BOARD_MODULE`."""
    # Loads Amaranth, which who finds the program in the cache does without.
    top = import_module("celosia.hw.host.board.top").BoardTop(config, setup)
    platform = import_module("celosia.hw.lib.sleep").Wakeful()
    text = import_module("celosia.sim.verilator.verilog").to_verilog(top, BOARD_MODULE, platform)
    return import_module("celosia.sim.export.design").for_any_tool(text)


def board_program(
    config: AcceleratorConfig, setup: BoardSetup = SIMULATED, progress: Progress = silent
) -> Path:
    """The program that simulates a board: `model.cpp` says how it is called.

    Raises `EnvironmentProblem` when it is not in the cache and a tool to build it is missing.
    """
    compiler, verilator = find_compiler(), find_verilator()

    def make(work: Path) -> Path:
        progress("writing the Verilog", None)
        (work / "board.v").write_text(board_verilog(config, setup))
        progress("translating the Verilog to C++", None)
        run_tools(
            [[verilator.binary, *_VERILATE, "board.v"]], work, VERILATOR_ROOT=str(verilator.root)
        )
        include = verilator.root / "include"
        parts = sorted((work / "model").glob("*.cpp"))
        # What runs once, to set up a model, is most of the code: it is not worth optimizing.
        rare = [part for part in parts if part.stem.endswith("Slow")]
        often = [*(part for part in parts if part not in rare), _SOURCE]
        often += [include / "verilated.cpp", include / "verilated_threads.cpp"]
        command = [*compiler.command, *_COMPILE, f"-I{include}", f"-I{include / 'vltstd'}"]
        for name, sources in (("often", often), ("rare", rare)):
            (work / f"{name}.cpp").write_text("".join(f'#include "{one}"\n' for one in sources))
        progress("compiling the C++", None)
        jobs = [[*command, "-c", "often.cpp"], [*command, "-O0", "-c", "rare.cpp"]]
        run_tools(jobs, work)
        run_tools([[*command, "often.o", "rare.o", "-pthread", "-o", "board"]], work)
        return work / "board"

    tools = (compiler.identity, verilator.identity)
    made_from = (rtl_key(config), repr(setup), _SOURCE.read_text(), Path(__file__).read_text())
    key = digest([*tools, *made_from])
    return cached(f"boards/{key}", make)


class SimulatedBoard:
    """A running board; `path` is its serial port.  `close` ends it."""

    def __init__(self, program: Path, setup: BoardSetup = SIMULATED):
        ours, self._theirs = os.openpty()
        tty.setraw(self._theirs)
        self.path = os.ttyname(self._theirs)
        try:
            self._process = subprocess.Popen(
                [str(program), str(ours), str(setup.divisor)],
                stdin=subprocess.PIPE,
                pass_fds=(ours,),
            )
        finally:
            os.close(ours)

    def wait(self) -> None:
        """Wait until somebody interrupts."""
        self._process.wait()

    def close(self) -> None:
        """End the simulation."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        os.close(self._theirs)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
