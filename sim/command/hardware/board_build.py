"""`celosia fpga --board`: the options, and the way to a bitstream."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Final

import typer

from celosia.hw.host.board.setup import BoardSetup
from celosia.isa.config import AcceleratorConfig
from celosia.sim.command.hardware.silicon_options import started_yosys
from celosia.sim.export.silicon.fpga.bitstream import (
    MARGIN,
    BoardTools,
    Clock,
    build_bitstream,
    make_clock,
    too_fast,
)
from celosia.sim.export.silicon.fpga.boards import BOARDS, Board, board_of
from celosia.sim.export.silicon.fpga.report import BuiltBoard, FpgaReport
from celosia.sim.support.output import check_destination, write_file
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress

__all__ = ["BAUD", "BaudOption", "BoardWords", "board_words", "built"]

BAUD: Final = 1_000_000
"""The rate of the serial line, if nothing else is said."""

BaudOption = Annotated[
    int,
    typer.Option("--baud", min=1, metavar="BITS", help="Bits per second on a board's serial line."),
]
_PANEL: Final = "For a board"


@dataclass(frozen=True)
class BoardWords:
    """A board, and what its design shall have."""

    board: Board
    name: str
    clock_mhz: float
    baud: int
    memory_bytes: int
    out: Path

    def setup(self, clock: Clock) -> BoardSetup:
        """The setup at a clock.  Raises `InputError` for what cannot be."""
        hertz = round(clock.mhz * 1e6)
        try:
            return BoardSetup(clock_hz=hertz, baud=self.baud, memory_bytes=self.memory_bytes)
        except ValueError as error:
            raise InputError(f"--board: {error}") from None


def board_words(
    *,
    board: Annotated[
        str | None,
        typer.Option(
            "--board", metavar="NAME", help=f"{', '.join(BOARDS)}.", rich_help_panel=_PANEL
        ),
    ] = None,
    clock: Annotated[
        float,
        typer.Option(
            "--clock",
            metavar="MHZ",
            min=4,
            max=200,
            help=f"The design's clock; at most {MARGIN:g} of what placing and routing reach.",
            rich_help_panel=_PANEL,
        ),
    ] = 20.0,
    baud: BaudOption = BAUD,
    memory_kib: Annotated[
        int,
        typer.Option(
            "--memory-kib", metavar="KIB", help="Block RAM for memory.", rich_help_panel=_PANEL
        ),
    ] = 128,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE.bit", help="The bitstream.", rich_help_panel=_PANEL),
    ] = None,
) -> BoardWords | None:
    """A board; None if none is named.  Raises `InputError`."""
    if board is None:
        if out is not None:
            raise InputError(f"--out {out}: a bitstream is that of a --board")
        return None
    if out is None:
        raise InputError(f"--board {board}: where shall the bitstream go?  Give --out FILE.bit")
    check_destination(out)
    words = BoardWords(board_of(board), board, clock, baud, memory_kib << 10, out)
    words.setup(Clock(clock, ""))  # Before any work.
    return words


def built(
    title: str,
    config: AcceleratorConfig,
    words: BoardWords,
    how: tuple[str | None, Sequence[int], tuple[int, float]],
    tell: Progress,
) -> FpgaReport:
    """Write the bitstream, and report of it; `how`: Yosys, seeds, the limits of `place`."""
    yosys, seeds, limits = how
    tools = BoardTools.found(started_yosys(yosys, tell))
    clock = make_clock(tools, words.board, words.clock_mhz)
    setup = words.setup(clock)
    tell("writing the Verilog", None)
    verilog = import_module("celosia.sim.board.simulated").board_verilog(config, setup)
    made: list[bytes] = []
    found = build_bitstream(verilog, words.board, clock, tools, seeds, limits, tell, made.append)
    for bitstream in made:
        write_file(words.out, bitstream)
    if too_fast(clock, found):
        typer.echo(
            f"celosia: no bitstream: {clock.mhz:g} MHz are above {MARGIN:g} of the "
            f"{found.best_mhz:.1f} MHz that the design reaches; give --clock "
            f"{MARGIN * found.best_mhz:.1f} or less, or more --seeds",
            err=True,
        )
    board = BuiltBoard(clock.mhz, setup.baud, setup.memory_bytes, str(words.out) if made else None)
    return FpgaReport(
        title, config, words.name, [tools.yosys.identity, tools.nextpnr], found, board
    )
