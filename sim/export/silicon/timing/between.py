"""The longest paths from a module to another, over the whole design.

Modules are mapped each alone and then put together: nothing is optimized across their borders, and
the cells on both sides of one are as strong as if it were a port.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Final

from celosia.isa.documents.record import Inline, Named
from celosia.sim.export.silicon.cells.library import CellLibrary
from celosia.sim.export.silicon.synthesis.modules import VerilogModule, embedded, places
from celosia.sim.export.silicon.timing.memory_cells import memory_cells
from celosia.sim.export.silicon.timing.path import RegisterPath
from celosia.sim.export.silicon.timing.sta import TimedNetlist, read_paths, report_paths

__all__ = ["Between", "paths_between", "read_between"]

_MOST_PATHS: Final = 20_000
"""Ends of paths to look at, the longest first; most of them are within a module."""
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
    sta: str,
    library: CellLibrary,
    modules: Mapping[str, VerilogModule],
    kept: Mapping[str, str],
    models: str,
) -> list[Between]:
    """The longest path between each two of `modules`, the longest first.

    `kept` are the netlists of all modules, and `models` are memories.  Raises `EnvironmentProblem`
    if OpenSTA (`sta`) fails.
    """
    boxes = {kind for module in modules.values() for _, kind in module.instances}
    (top,) = modules.keys() - boxes
    verilog = "".join(embedded(kept[name], each) for name, each in modules.items())
    libraries = [library.liberty, memory_cells(models)]
    ((_, report),) = report_paths(sta, [TimedNetlist(top, verilog, top, libraries, _MOST_PATHS)], 1)
    return read_between(report, [place for place, _ in places(top, modules)])


def read_between(report: str, known: Sequence[str]) -> list[Between]:
    """The longest path between each two places of `known` in a report, the longest first.

    A register or cell belongs to the longest place that its name begins with; OpenSTA writes a
    slash where a place has a dot.
    """
    longest: dict[tuple[str, str], Between] = {}
    slashed = {place.replace(".", "/"): place for place in known}
    parts = re.split(r"(?m)^(?=Startpoint: )", report)[1:]
    for part, path in zip(parts, read_paths(report), strict=True):
        passed = [_place_of(point, slashed) for point in _POINT.findall(part)]
        if len(set(passed)) < 2:
            continue
        begin, end = slashed[passed[0]], slashed[_place_of(path.end, slashed)]
        before = longest.get((begin, end))
        if before is None or before.path.period < path.period:
            ends = [end.replace("/", ".") for end in (path.begin, path.end)]
            longest[begin, end] = Between(begin, end, replace(path, begin=ends[0], end=ends[1]))
    return sorted(longest.values(), key=lambda each: -each.path.period)


def _place_of(name: str, known: Collection[str]) -> str:
    """The longest place that `name` is in; the top, if there is none."""
    while name:
        name = name.rpartition("/")[0]
        if name in known:
            return name
    return ""
