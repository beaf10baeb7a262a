"""The longest paths from a module to another, with OpenSTA over the whole design.

Modules are mapped each alone and then put together: nothing is optimized across their borders, and
the cells on both sides of one are as strong as if it were a port.
"""

import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from celosia.isa.documents.record import Inline, Named
from celosia.sim.export.silicon.cells.library import CellLibrary
from celosia.sim.export.silicon.synthesis.jobs import Job, run_jobs
from celosia.sim.export.silicon.synthesis.modules import VerilogModule, embedded, places
from celosia.sim.export.silicon.synthesis.yosys import Yosys
from celosia.sim.export.silicon.timing.memory_cells import memory_cells
from celosia.sim.export.silicon.timing.path import RegisterPath
from celosia.sim.export.silicon.timing.sta import read_paths
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.progress import Progress

__all__ = ["Between", "paths_between", "read_between"]

_MOST_PATHS: Final = 20_000
"""Ends of paths to look at, the longest first; most of them are within a module."""
_LINK: Final = """\
read_liberty -lib -ignore_miss_func cells.lib
read_verilog -lib models.v
read_verilog modules.v
hierarchy -check -top {top}
flatten
opt_clean -purge
write_verilog -noattr -noexpr netlist.v
"""
_STA: Final = f"""\
read_liberty cells.lib
read_liberty memories.lib
read_verilog netlist.v
link_design {{top}}
create_clock -name clk -period 10 clk
report_checks -from [all_registers -clock_pins] -to [all_registers -data_pins] \
-group_count {_MOST_PATHS} -digits 3 > path.txt
exit
"""
_POINT: Final = re.compile(r"^ +[\d.-]+ +[\d.-]+ [v^] (\S+)/\S+ \(\w+\)$", re.MULTILINE)


@dataclass(frozen=True)
class Between:
    """A path that leaves the module in which it begins."""

    begin: Annotated[str, Named("begin_module")]
    """The place of that module below the top."""
    end: Annotated[str, Named("end_module")]
    """The place of the module in which it ends: the same, if it only passes another."""
    path: Inline[RegisterPath]


def paths_between(
    tools: tuple[Yosys, str],
    library: CellLibrary,
    modules: Mapping[str, VerilogModule],
    kept: Mapping[str, str],
    models: str,
    tell: Progress,
) -> list[Between]:
    """The longest path between each two of `modules`, the longest first.

    `tools` are Yosys and OpenSTA's program, `kept` the netlists of all modules, and `models` are
    memories.  Raises `EnvironmentProblem` if a tool fails.
    """
    yosys, sta = tools
    boxes = {kind for module in modules.values() for _, kind in module.instances}
    (top,) = modules.keys() - boxes
    tell("timing what is between modules", None)
    with tempfile.TemporaryDirectory(prefix="celosia-between-") as folder:
        work = Path(folder)
        texts = {
            "cells.lib": library.liberty,
            "memories.lib": memory_cells(models),
            "models.v": models,
            "modules.v": "".join(embedded(kept[name], each) for name, each in modules.items()),
            "link.ys": _LINK.format(top=top),
            "time.tcl": _STA.format(top=top),
        }
        for name, text in texts.items():
            (work / name).write_text(text)
        _do(Job(top, (*yosys.command, "-s", "link.ys"), work))
        netlist = work / "netlist.v"
        if not netlist.exists():
            raise EnvironmentProblem(f"{top}: Yosys ended without a netlist")
        netlist.write_text(netlist.read_text().replace("wire signed ", "wire "))
        _do(Job(top, (sta, "-no_splash", "-exit", "time.tcl"), work))
        report = work / "path.txt"
        found = report.read_text() if report.exists() else ""
    return read_between(found, [place for place, _ in places(top, modules)])


def read_between(report: str, known: Sequence[str]) -> list[Between]:
    """The longest path between each two places of `known` in a report, the longest first.

    A register or cell belongs to the longest place that its name begins with.
    """
    longest: dict[tuple[str, str], Between] = {}
    parts = re.split(r"(?m)^(?=Startpoint: )", report)[1:]
    for part, path in zip(parts, read_paths(report), strict=True):
        passed = [_place_of(point, known) for point in _POINT.findall(part)]
        if len(set(passed)) < 2:
            continue
        found = Between(passed[0], _place_of(path.end, known), path)
        before = longest.get((found.begin, found.end))
        if before is None or (before.path.ns or 0) < (path.ns or 0):
            longest[found.begin, found.end] = found
    return sorted(longest.values(), key=lambda each: -(each.path.ns or 0))


def _place_of(name: str, known: Iterable[str]) -> str:
    return max((place for place in known if name.startswith(f"{place}.")), key=len, default="")


def _do(job: Job) -> None:
    with closing(run_jobs([job], 1)) as ended:
        list(ended)
