"""The tables and the JSON document of `celosia fpga`."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from celosia.isa.config import AcceleratorConfig
from celosia.sim.export.silicon.fpga.implement import RESOURCES, Implementation

__all__ = ["FPGA_SCHEMA", "FpgaReport", "fpga_document", "print_fpga"]

FPGA_SCHEMA: Final = "celosia.fpga/1"


@dataclass(frozen=True)
class FpgaReport:
    """What was measured."""

    name: str
    config: AcceleratorConfig
    device: str
    tools: Sequence[str]
    found: Implementation


def fpga_document(report: FpgaReport) -> dict[str, Any]:
    """A report for JSON."""
    return {
        "schema": FPGA_SCHEMA,
        "preset": report.name,
        "config": asdict(report.config),
        "device": report.device,
        "tools": list(report.tools),
        "used": {
            RESOURCES[name]: {"used": used, "available": available}
            for name, (used, available) in report.found.used.items()
        },
        "fmax_mhz": {str(seed): mhz for seed, mhz in report.found.fmax_mhz.items()},
        "best_mhz": report.found.best_mhz,
        "longest": None if report.found.longest is None else asdict(report.found.longest),
    }


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
