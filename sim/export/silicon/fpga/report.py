"""The tables and the JSON document of `celosia fpga`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from celosia.isa.config import AcceleratorConfig
from celosia.isa.documents.record import Added, Inline, Named, Record
from celosia.sim.export.silicon.fpga.implement import RESOURCES, Implementation

__all__ = ["BuiltBoard", "FpgaReport", "print_fpga"]


@dataclass(frozen=True)
class BuiltBoard:
    """A board's design, as it was made."""

    clock_mhz: float
    """The clock that its PLL makes."""
    baud: int
    """Bits per second on its serial line."""
    memory_bytes: int
    """Block RAM behind the accelerator's memory port."""
    bitstream: str | None
    """The file that was written; null: the design is too slow for the clock."""


@dataclass(frozen=True)
class FpgaReport(Record):
    """What was measured."""

    name: Annotated[str, Named("preset")]
    """The configuration."""
    config: AcceleratorConfig
    """Every parameter of the accelerator."""
    device: str
    """The FPGA."""
    tools: Sequence[str]
    """Yosys and nextpnr."""
    found: Inline[Implementation]
    board: Added[BuiltBoard | None] = None
    """The design of a board, between its pads; null: out of context."""
    schema: Literal["celosia.fpga/1"] = "celosia.fpga/1"
    """The number changes when a key changes its meaning or goes; new keys may come without."""


def print_fpga(console: Console, report: FpgaReport) -> None:
    """What was measured, as tables."""
    board = report.board
    place = "out of context" if board is None else f"at {board.clock_mhz:g} MHz"
    title = escape(f"{report.name} on {report.device}, {place}")
    table = Table(title=title, title_justify="left")
    table.add_column("resource")
    for head in ("used", "available", "share"):
        table.add_column(head, justify="right")
    for name, (used, available) in report.found.used.items():
        table.add_row(RESOURCES[name], f"{used:,}", f"{available:,}", f"{used / available:.1%}")
    console.print(table)
    fmax = ", ".join(f"{seed}: {mhz:.1f}" for seed, mhz in report.found.fmax_mhz.items())
    console.print(
        f"Fmax {report.found.best_mhz:.1f} MHz (by seed: {fmax}), register to register. "
        f"{'; '.join(report.tools)}.",
        markup=False,
    )
    for seed, reason in report.found.given_up.items():
        console.print(f"Seed {seed} was given up: {reason}.", markup=False)
    if longest := report.found.longest:
        names = ", ".join(longest.nets) or "nothing with a name"
        console.print(
            f"Longest path of the best seed: {longest.logic_ns:.1f} ns in cells and "
            f"{longest.wires_ns:.1f} ns in wires, by way of {names}.",
            markup=False,
        )
