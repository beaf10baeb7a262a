"""The bitstream of a board: its clock, placing and routing between its pads, packing."""

import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from celosia.sim.export.silicon.fpga.boards import Board
from celosia.sim.export.silicon.fpga.implement import (
    ROUTABLE,
    Implementation,
    find_tool,
    place,
    place_job,
    synthesize,
)
from celosia.sim.export.silicon.synthesis.jobs import Job, run_jobs
from celosia.sim.export.silicon.synthesis.yosys import Yosys
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.progress import Progress

__all__ = ["MARGIN", "BoardTools", "Clock", "build_bitstream", "make_clock", "too_fast"]

MARGIN: Final = 0.8
"""The clock, at most, of the frequency that placing and routing report."""
_MADE: Final = re.compile(r"clkout0 frequency: ([\d.]+) MHz")


@dataclass(frozen=True)
class BoardTools:
    """The tools between Verilog and a bitstream."""

    yosys: Yosys
    nextpnr: str
    pll: str
    pack: str

    @classmethod
    def found(cls, yosys: Yosys) -> "BoardTools":
        """Yosys and those of nextpnr.  Raises `EnvironmentProblem` if one is missing."""
        return cls(yosys, *(find_tool(name) for name in ("nextpnr-ecp5", "ecppll", "ecppack")))


@dataclass(frozen=True)
class Clock:
    """The clock that a PLL makes."""

    mhz: float
    verilog: str
    """The module `pll`."""


def make_clock(tools: BoardTools, board: Board, wanted_mhz: float) -> Clock:
    """The PLL whose clock is nearest to what is wanted.  Raises `EnvironmentProblem`."""
    with tempfile.TemporaryDirectory(prefix="celosia-pll-") as folder:
        work = Path(folder)
        words = ("-i", f"{board.oscillator_mhz:g}", "-o", f"{wanted_mhz:g}", "-f", "pll.v")
        names = ("-n", "pll", "--clkin_name", "clkin", "--clkout0_name", "clkout0")
        job = Job("ecppll", (tools.pll, *words, *names), work)
        with closing(run_jobs([job], 1)) as ended:
            list(ended)
        text = "".join(path.read_text() for path in work.glob("*.v"))
        said = "".join(path.read_text(errors="replace") for path in work.glob("*.log"))
    made = _MADE.search(said)
    if not made or "module pll" not in text:
        raise EnvironmentProblem(f"ecppll makes no clock of {wanted_mhz:g} MHz")
    return Clock(float(made[1]), text)


def build_bitstream(
    verilog: str,
    board: Board,
    clock: Clock,
    tools: BoardTools,
    seeds: Sequence[int],
    limits: tuple[int, float],
    tell: Progress,
    keep: Callable[[bytes], None],
) -> Implementation:
    """Put the design in `verilog` on `board`, with seeds in order until one is fast enough.

    `keep` gets the bitstream of the best seed, unless the clock is above `MARGIN` of what it
    reaches (`too_fast`); `limits` are those of `place`.  Raises `EnvironmentProblem` for what a
    tool refuses.
    """
    tell("synthesis", None)
    netlist = synthesize(verilog + clock.verilog + board.wrapper(), "board", tools.yosys, ROUTABLE)
    with tempfile.TemporaryDirectory(prefix="celosia-board-") as folder:
        files = {"board.lpf": board.constraints()}
        words = (tools.nextpnr, *board.options, "--lpf", "board.lpf", "--textcfg", "board.config")
        jobs = [place_job(words, netlist, seed, Path(folder), files) for seed in seeds]
        found = place(jobs, seeds, limits, tell, lambda mhz: _fits(clock, mhz))
        best = max(found.fmax_mhz, key=lambda seed: found.fmax_mhz[seed])
        if not too_fast(clock, found):
            tell("packing the bitstream", None)
            keep(_packed(tools.pack, Path(folder, str(best))))
    return found


def too_fast(clock: Clock, found: Implementation) -> bool:
    """Whether a design that was placed and routed cannot be trusted at this clock."""
    return not _fits(clock, found.best_mhz)


def _fits(clock: Clock, reached_mhz: float) -> bool:
    return clock.mhz <= MARGIN * reached_mhz


def _packed(tool: str, placed: Path) -> bytes:
    work = placed / "pack"
    work.mkdir()
    shutil.copyfile(placed / "board.config", work / "board.config")
    words = ("--compress", "--input", "board.config", "--bit", "board.bit")
    with closing(run_jobs([Job("ecppack", (tool, *words), work)], 1)) as ended:
        list(ended)
    try:
        return (work / "board.bit").read_bytes()
    except OSError as error:
        raise EnvironmentProblem(f"ecppack ended without a bitstream: {error}") from None
