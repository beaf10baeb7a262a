"""The table and the JSON document of `celosia timing`."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from celosia.isa.config import AcceleratorConfig
from celosia.sim.export.silicon.timing.measure import CELL, ModulePath
from celosia.sim.export.silicon.timing.sta import LOAD_PF

__all__ = ["TIMING_SCHEMA", "TimingReport", "print_timing", "timing_document"]

TIMING_SCHEMA: Final = "celosia.timing/1"

_NOTE: Final = (
    "Within a module each: no wires, no clock tree, no paths between modules. Compare, and quote "
    "no frequency."
)


@dataclass(frozen=True)
class TimingReport:
    """What was measured."""

    name: str
    config: AcceleratorConfig
    tools: Sequence[str]
    paths: Sequence[ModulePath]
    """The longest of each unit."""

    def share(self, path: ModulePath) -> float | None:
        """The length of `path`, in that of a processing element; None: there is none to compare."""
        cell = next((each.path for each in self.paths if each.unit == CELL), None)
        if cell is None:
            return None
        if path.path.ns is None or cell.ns is None:
            return path.path.levels / cell.levels
        return path.path.ns / cell.ns


def timing_document(report: TimingReport) -> dict[str, Any]:
    """A report for JSON."""
    return {
        "schema": TIMING_SCHEMA,
        "preset": report.name,
        "config": asdict(report.config),
        "tools": list(report.tools),
        "load_pf": LOAD_PF,
        "units": {
            each.unit: {
                "module": each.module,
                **asdict(each.path),
                "of_a_cell": report.share(each),
            }
            for each in report.paths
        },
    }


def print_timing(console: Console, report: TimingReport) -> None:
    """What was measured, as a table."""
    title = escape(f"{report.name}: the longest path of each unit")
    table = Table(title=title, title_justify="left")
    table.add_column("unit")
    table.add_column("ns", justify="right")
    table.add_column("levels", justify="right")
    table.add_column("of a cell", justify="right")
    table.add_column("from")
    table.add_column("to")
    for each in sorted(report.paths, key=lambda each: -(report.share(each) or 0)):
        share = report.share(each)
        table.add_row(
            each.unit,
            "" if each.path.ns is None else f"{each.path.ns:.2f}",
            str(each.path.levels),
            "" if share is None else f"{share:.2f}",
            escape(each.path.begin),
            escape(each.path.end),
        )
    console.print(table)
    console.print(f"{'; '.join(report.tools)}. {_NOTE}", markup=False)
