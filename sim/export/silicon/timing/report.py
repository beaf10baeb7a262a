"""The table and the JSON document of `celosia timing`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from celosia.isa.config import AcceleratorConfig
from celosia.isa.documents.record import Hidden, Inline, Key, Named, Record
from celosia.sim.export.silicon.timing.between import Between
from celosia.sim.export.silicon.timing.measure import CELL, ModulePath
from celosia.sim.export.silicon.timing.memory_cells import ACCESS_NS, SET_UP_NS
from celosia.sim.export.silicon.timing.path import RegisterPath
from celosia.sim.export.silicon.timing.sta import LOAD_PF

__all__ = ["MemoryTimes", "PathBetween", "TimingReport", "UnitPath", "print_timing"]

_NOTE: Final = "Within a module each: no wires, no clock tree. Compare, and quote no frequency."
_BETWEEN: Final = 10
"""Paths between modules that are shown."""


@dataclass(frozen=True)
class MemoryTimes:
    """What memories take, in ns."""

    access: float = ACCESS_NS
    """From the clock to the data."""
    set_up: float = SET_UP_NS
    """From inputs to the clock."""


@dataclass(frozen=True)
class UnitPath:
    """The longest path of a unit."""

    module: str
    """The module that has it."""
    path: Inline[RegisterPath]
    of_a_cell: float | None
    """Its length in that of a processing element; null: there is none to compare."""


@dataclass(frozen=True)
class PathBetween:
    """A path that leaves the module in which it begins."""

    between: Inline[Between]
    of_a_cell: float | None
    """Its length in that of a processing element; null: there is none to compare."""


@dataclass(frozen=True)
class TimingReport(Record):
    """What was measured."""

    name: Annotated[str, Named("preset")]
    """The configuration."""
    config: AcceleratorConfig
    """Every parameter of the accelerator."""
    tools: Sequence[str]
    """Yosys, the library of cells, and what followed the paths."""
    paths: Hidden[Sequence[ModulePath]]
    """The longest of each unit."""
    between: Hidden[Sequence[Between]] = ()
    """The longest between each two modules, the longest first."""
    schema: Literal["celosia.timing/1"] = "celosia.timing/1"
    """The number changes when a key changes its meaning or goes; new keys may come without."""
    load_pf: float = LOAD_PF
    """The load of each output of a module."""
    memory_ns: MemoryTimes = field(default_factory=MemoryTimes)
    """What memories take."""

    @Key
    def units(self) -> Mapping[str, UnitPath]:
        """The longest path of each unit, by its name."""
        return {
            each.unit: UnitPath(each.module, each.path, self.share(each.path))
            for each in self.paths
        }

    @Key
    def longest_between(self) -> Annotated[list[PathBetween], Named("between")]:
        """The longest paths between modules, the longest first."""
        return [PathBetween(each, self.share(each.path)) for each in self.between[:_BETWEEN]]

    def share(self, path: RegisterPath) -> float | None:
        """The length of `path`, in that of a processing element; None: there is none to compare."""
        cell = next((each.path for each in self.paths if each.unit == CELL), None)
        if cell is None:
            return None
        if path.ns is None or cell.ns is None:
            return path.levels / cell.levels
        return path.ns / cell.ns


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
