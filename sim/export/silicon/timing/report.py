"""The table and the JSON document of `celosia timing`."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from celosia.isa.config import AcceleratorConfig
from celosia.sim.export.silicon.timing.between import Between
from celosia.sim.export.silicon.timing.measure import CELL, ModulePath
from celosia.sim.export.silicon.timing.memory_cells import ACCESS_NS, SET_UP_NS
from celosia.sim.export.silicon.timing.path import RegisterPath
from celosia.sim.export.silicon.timing.sta import LOAD_PF

__all__ = ["TIMING_SCHEMA", "TimingReport", "print_timing", "timing_document"]

TIMING_SCHEMA: Final = "celosia.timing/1"

_NOTE: Final = "Within a module each: no wires, no clock tree. Compare, and quote no frequency."
_BETWEEN: Final = 10
"""Paths between modules that are shown."""


@dataclass(frozen=True)
class TimingReport:
    """What was measured."""

    name: str
    config: AcceleratorConfig
    tools: Sequence[str]
    paths: Sequence[ModulePath]
    """The longest of each unit."""
    between: Sequence[Between] = ()
    """The longest between each two modules, the longest first."""

    def share(self, path: RegisterPath) -> float | None:
        """The length of `path`, in that of a processing element; None: there is none to compare."""
        cell = next((each.path for each in self.paths if each.unit == CELL), None)
        if cell is None:
            return None
        if path.ns is None or cell.ns is None:
            return path.levels / cell.levels
        return path.ns / cell.ns


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
                "of_a_cell": report.share(each.path),
            }
            for each in report.paths
        },
        "memory_ns": {"access": ACCESS_NS, "set_up": SET_UP_NS},
        "between": [
            {
                "begin_module": each.begin,
                "end_module": each.end,
                **asdict(each.path),
                "of_a_cell": report.share(each.path),
            }
            for each in report.between[:_BETWEEN]
        ],
    }


def print_timing(console: Console, report: TimingReport) -> None:
    """What was measured, as a table."""
    ordered = sorted(report.paths, key=lambda each: -(report.share(each.path) or 0))
    title = f"{report.name}: the longest path of each unit"
    console.print(_table(report, title, [(each.unit, each.path) for each in ordered]))
    if report.between:
        title = f"Between modules; memories: {ACCESS_NS:g} ns to data, set-up {SET_UP_NS:g} ns"
        rows = [(f"{each.begin} to {each.end}", each.path) for each in report.between[:_BETWEEN]]
        console.print(_table(report, title, rows))
    console.print(f"{'; '.join(report.tools)}. {_NOTE}", markup=False)


def _table(report: TimingReport, title: str, rows: Sequence[tuple[str, RegisterPath]]) -> Table:
    table = Table(title=escape(title), title_justify="left")
    table.add_column("where")
    for head in ("ns", "levels", "of a cell"):
        table.add_column(head, justify="right")
    table.add_column("from")
    table.add_column("to")
    for where, path in rows:
        share = report.share(path)
        table.add_row(
            escape(where),
            "" if path.ns is None else f"{path.ns:.2f}",
            str(path.levels),
            "" if share is None else f"{share:.2f}",
            escape(path.begin),
            escape(path.end),
        )
    return table
