"""The tables and the JSON document of `celosia fpga`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from celosia.isa.config import AcceleratorConfig
from celosia.isa.documents.record import Inline, Named, Record
from celosia.sim.export.silicon.fpga.implement import RESOURCES, Implementation

__all__ = ["FpgaReport", "print_fpga"]


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
    schema: Literal["celosia.fpga/1"] = "celosia.fpga/1"
    """The number changes when a key changes its meaning or goes; new keys may come without."""


def print_fpga(console: Console, report: FpgaReport) -> None:
    """What was measured, as tables."""
    title = escape(f"{report.name} on {report.device}, out of context")
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
    if longest := report.found.longest:
        names = ", ".join(longest.nets) or "nothing with a name"
        console.print(
            f"Longest path of the best seed: {longest.logic_ns:.1f} ns in cells and "
            f"{longest.wires_ns:.1f} ns in wires, by way of {names}.",
            markup=False,
        )
