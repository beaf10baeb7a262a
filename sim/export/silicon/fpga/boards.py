"""Boards, and the files that tools need for them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from celosia.isa.config import did_you_mean
from celosia.sim.support.problems import InputError

__all__ = ["BOARDS", "BOARD_MODULE", "Board", "board_of"]

BOARD_MODULE: Final = "celosia_board"
"""The module of `celosia.hw.host.board.top.BoardTop`."""


@dataclass(frozen=True)
class Board:
    """An FPGA board with an ECP5."""

    options: Sequence[str]
    """Nextpnr's options for its FPGA."""
    oscillator_mhz: float
    pins: Mapping[str, str]
    """The pads of the ports of `wrapper`, all at 3.3 V."""

    def constraints(self) -> str:
        """Its pads and its clock, as Lattice's preference file."""
        lines = [f'FREQUENCY PORT "clk" {self.oscillator_mhz:g} MHZ;']
        for port, pad in self.pins.items():
            lines.append(f'LOCATE COMP "{port}" SITE "{pad}";')
            lines.append(f'IOBUF PORT "{port}" IO_TYPE=LVCMOS33;')
        return "\n".join([*lines, ""])

    def wrapper(self) -> str:
        """The top module in Verilog: the design's clock comes from the module `pll`.

        The design is in reset until the clock is stable, and 16 cycles longer.
        """
        return _WRAPPER.format(module=BOARD_MODULE)


_WRAPPER: Final = """\
module board(input clk, input rx, output tx, output led_busy, output led_error, output awake);
  wire clock, locked;
  pll pll(.clkin(clk), .clkout0(clock), .locked(locked));
  reg [15:0] rst = 16'hffff;
  always @(posedge clock) rst <= locked ? {{rst[14:0], 1'b0}} : 16'hffff;
  {module} design(
    .clk(clock), .rst(rst[15]), .rx(rx), .tx(tx), .busy(led_busy), .error(led_error));
  assign awake = 1'b1;
endmodule
"""

BOARDS: Final[Mapping[str, Board]] = {
    # As in amaranth-boards 0.0.21, ulx3s.py.  While the pin GPIO0 of its ESP32 is low, that one
    # may start and load another bitstream.
    "ulx3s-85f": Board(
        ("--85k", "--package", "CABGA381"),
        25.0,
        {"clk": "G2", "rx": "M1", "tx": "L4", "led_busy": "B2", "led_error": "C2", "awake": "L2"},
    ),
}
"""Boards by name."""


def board_of(name: str) -> Board:
    """The board called `name`.  Raises `InputError`."""
    if name not in BOARDS:
        raise InputError(
            f"--board {name}: there is no such board; there are {', '.join(BOARDS)}"
            f"{did_you_mean(name, BOARDS)}"
        )
    return BOARDS[name]
