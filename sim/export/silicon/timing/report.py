"""The table and the JSON document of `celosia timing`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Final, Literal

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from celosia.isa.config import AcceleratorConfig
from celosia.isa.documents.record import Hidden, Inline, Key, Named, Record
from celosia.sim.export.silicon.timing.between import Between
from celosia.sim.export.silicon.timing.bounds import Bound
from celosia.sim.export.silicon.timing.measure import Measured
from celosia.sim.export.silicon.timing.memory_cells import ACCESS_NS, SET_UP_NS
from celosia.sim.export.silicon.timing.path import RegisterPath
from celosia.sim.export.silicon.timing.scripts import LOAD_PF, SCRIPTS
from celosia.sim.export.silicon.timing.times import Workload, time_us, us_for_the_clock

__all__ = ["TimingReport", "print_timing"]

_NOTE: Final = "No wires, no clock tree: compare, and quote no frequency."
_CORE: Final = "accelerator."
"""Where most modules are: not said in tables."""
_BETWEEN: Final = 10
"""Paths between modules that are shown: the longest of each script."""


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
class WorkloadTime:
    """What a workload takes."""

    cycles: int
    """The cycles that the timeline expects."""
    us: float
    """Their time, in us, if a cycle is as long as the longest path."""
    us_for_the_clock: float | None
    """What of that is there because a cycle is longer than a multiply-add; null: unknown."""


@dataclass(frozen=True)
class ScriptTimes:
    """The paths of netlists that one script made."""

    measured: Hidden[Measured]
    """What was measured."""
    expected: Hidden[Sequence[Workload]]
    """What is shown in time as well."""

    @Key
    def abc(self) -> str:
        """What ABC is given beside the cells; empty: nothing, or levels of logic were counted."""
        return SCRIPTS.get(self.measured.script, "").strip()

    @Key
    def period_ns(self) -> float | None:
        """What a cycle takes: the longest of all paths, with set-up; null: not in ns."""
        return self.measured.longest.period or None

    @Key
    def units(self) -> Mapping[str, UnitPath]:
        """The longest path of each unit, by its name."""
        share = self.measured.share
        return {
            each.unit: UnitPath(each.module, each.path, share(each.path))
            for each in self.measured.paths
        }

    @Key
    def between(self) -> list[PathBetween]:
        """The longest paths between modules, the longest first; none if not all were measured."""
        share, found = self.measured.share, self.measured.between[:_BETWEEN]
        return [PathBetween(each, share(each.path)) for each in found]

    @Key
    def workloads(self) -> Mapping[str, WorkloadTime]:
        """The time of standard workloads, by name; none if not all paths were measured."""
        measured = self.measured
        return {
            each.name: WorkloadTime(
                each.cycles, time_us(each, measured), us_for_the_clock(each, measured)
            )
            for each in self.expected
        }


@dataclass(frozen=True)
class TimingReport(Record):
    """What was measured."""

    name: Annotated[str, Named("preset")]
    """The configuration."""
    config: AcceleratorConfig
    """Every parameter of the accelerator."""
    tools: Sequence[str]
    """Yosys, the library of cells, and what followed the paths."""
    measured: Hidden[Sequence[Measured]]
    """By each script; of levels of logic there is one, which is called so."""
    workloads: Hidden[Sequence[Workload]] = ()
    """What is shown in time as well."""
    bounds: Sequence[Bound] = ()
    """The bounds that were asked for, and whether they hold."""
    schema: Literal["celosia.timing/2"] = "celosia.timing/2"
    """The number changes when a key changes its meaning or goes; new keys may come without."""
    load_pf: float = LOAD_PF
    """The load of each output of a module."""
    memory_ns: MemoryTimes = field(default_factory=MemoryTimes)
    """What memories take."""

    @Key
    def scripts(self) -> Mapping[str, ScriptTimes]:
        """What was measured, by the script of ABC; `levels`: levels of logic, before ABC's."""
        return {each.script: ScriptTimes(each, self.workloads) for each in self.measured}

    @property
    def right(self) -> bool:
        """Whether all bounds hold."""
        return all(each.holds for each in self.bounds)


def print_timing(console: Console, report: TimingReport) -> None:
    """What was measured, as tables with the scripts beside each other."""
    units = [{each.unit: each.path for each in one.paths} for one in report.measured]
    names = sorted(units[0], key=lambda unit: -_length(units[0][unit]))
    title = f"{report.name}: the longest path of each unit"
    rows = [(name, [paths.get(name) for paths in units]) for name in names]
    console.print(_table(report.measured, title, rows))
    if any(each.between for each in report.measured):
        console.print(_between(report.measured))
    for each in report.measured:
        if (longest := each.longest).ns is not None:
            console.print(
                f"{each.script}: a cycle takes {longest.period:.2f} ns, {longest.set_up:.2f} of it "
                f"set-up, by the path from {longest.begin} to {longest.end}.",
                markup=False,
            )
    if report.workloads:
        console.print(_times(report))
    for each in report.bounds:
        verdict = "" if each.holds else " NOT HELD"
        console.print(
            f"{each.script}: {each.ns:.2f} ns {each.kind} modules, bound {each.most:g}{verdict}",
            markup=False,
        )
    console.print(f"{'; '.join(report.tools)}. {_NOTE}", markup=False)


def _times(report: TimingReport) -> Table:
    title = "Time, at this library's typical corner: cycles that the timeline expects"
    table = Table(title=title, title_justify="left")
    table.add_column("workload")
    table.add_column("cycles", justify="right")
    for each in report.measured:
        table.add_column(f"{escape(each.script)} us", justify="right")
        table.add_column("for the clock", justify="right")
    for workload in report.workloads:
        cells = []
        for each in report.measured:
            lost = us_for_the_clock(workload, each)
            cells += [f"{time_us(workload, each):,.0f}", "" if lost is None else f"{lost:,.0f}"]
        table.add_row(escape(workload.name), f"{workload.cycles:,}", *cells)
    table.caption = "for the clock: because a cycle is longer than a multiply-add"
    return table


def _between(measured: Sequence[Measured]) -> Table:
    """The longest paths between modules by any script."""
    pairs = [{(each.begin, each.end): each.path for each in one.between} for one in measured]
    shown = dict.fromkeys(pair for paths in pairs for pair in list(paths)[:_BETWEEN])
    rows = [
        (
            f"{begin.removeprefix(_CORE)} to {end.removeprefix(_CORE)}",
            [_within(paths.get((begin, end)), begin, end) for paths in pairs],
        )
        for begin, end in shown
    ]
    title = f"Between modules; memories: {ACCESS_NS:g} ns to data, set-up {SET_UP_NS:g} ns"
    return _table(measured, title, rows)


def _within(path: RegisterPath | None, begin: str, end: str) -> RegisterPath | None:
    """`path` with the names that its registers have in their modules."""
    if path is None:
        return None
    first, last = path.begin.removeprefix(f"{begin}."), path.end.removeprefix(f"{end}.")
    return replace(path, begin=first, end=last)


def _table(
    measured: Sequence[Measured],
    title: str,
    rows: Sequence[tuple[str, Sequence[RegisterPath | None]]],
) -> Table:
    """`rows` have a path for each script; what it begins and ends at is that of the first."""
    timed = any(path is not None and path.ns is not None for _, paths in rows for path in paths)
    table = Table(title=escape(title), title_justify="left")
    table.add_column("where")
    for each in measured:
        head = f"{escape(each.script)} ns" if timed else "levels"
        table.add_column(head, justify="right")
        table.add_column("of a cell", justify="right")
    table.add_column("from")
    table.add_column("to")
    for where, paths in rows:
        numbers = []
        for each, path in zip(measured, paths, strict=True):
            share = None if path is None else each.share(path)
            numbers += [_number(path), "" if share is None else f"{share:.2f}"]
        first = next(path for path in paths if path is not None)
        table.add_row(escape(where), *numbers, escape(first.begin), escape(first.end))
    return table


def _number(path: RegisterPath | None) -> str:
    if path is None:
        return ""
    return str(path.levels) if path.ns is None else f"{path.ns:.2f}"


def _length(path: RegisterPath) -> float:
    return path.levels if path.ns is None else path.ns
