"""OpenSTA: paths from register to register of mapped netlists, in nanoseconds."""

import re
import shutil
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from celosia.sim.export.silicon.synthesis.jobs import Job, run_jobs
from celosia.sim.export.silicon.timing.path import RegisterPath
from celosia.sim.support.errors import EnvironmentProblem

__all__ = ["TimedNetlist", "find_sta", "read_paths", "report_paths"]

_SCRIPT: Final = """\
{libraries}read_verilog netlist.v
link_design {{{top}}}
set clocks [all_registers -clock_pins]
if {{[llength $clocks]}} {{
  create_clock -name clk -period 10 clk
  report_checks -from $clocks -to [all_registers -data_pins] \
-group_count {ends} -digits 3 > path.txt
}}
exit
"""
"""A module without a register has no path."""
_REFUSED: Final = re.compile(r"^Error: .*", re.MULTILINE)
_ENDS: Final = re.compile(r"^(Start|End)point: (\S+)", re.MULTILINE)
_POINT: Final = re.compile(r"^ +[\d.-]+ +[\d.-]+ [v^] \S+/\S+ \(\w+\)$", re.MULTILINE)
_ARRIVAL: Final = re.compile(r"^ +([\d.]+) +data arrival time$", re.MULTILINE)
_SET_UP: Final = re.compile(r"^ +(-?[\d.]+) +-?[\d.]+ +library setup time$", re.MULTILINE)
_CELL_OF_WIRE: Final = re.compile(r"\\+\w+$")
_MISSING: Final = (
    "no OpenSTA: sta is not on PATH; the Debian package opensta has it (--levels does without)"
)


@dataclass(frozen=True)
class TimedNetlist:
    """Cells to time."""

    name: str
    """What they are, for who reads that it failed."""
    verilog: str
    """The module `top` and what it instantiates but for cells; a hierarchy stays one."""
    top: str
    libraries: Sequence[str]
    """Texts of Liberty files."""
    ends: int = 1
    """How many of the registers at which the longest paths end are reported, with one path each."""


def find_sta() -> str:
    """OpenSTA's program.  Raises `EnvironmentProblem` if it is not there."""
    if found := shutil.which("sta"):
        return found
    raise EnvironmentProblem(_MISSING)


def report_paths(
    sta: str, netlists: Collection[TimedNetlist], at_once: int
) -> Iterator[tuple[TimedNetlist, str]]:
    """Each of `netlists` with the report of its longest paths, in the order in which they end.

    Raises `EnvironmentProblem` if OpenSTA fails or refuses a netlist.
    """
    with tempfile.TemporaryDirectory(prefix="celosia-timing-") as folder:
        places = {Path(folder) / str(number): each for number, each in enumerate(netlists)}
        jobs = (_job(sta, each, place) for place, each in places.items())
        with closing(run_jobs(jobs, at_once)) as ended:
            for job in ended:
                # OpenSTA says that it refuses a line and goes on, with exit code 0.
                if refused := _REFUSED.search(job.said()):
                    raise EnvironmentProblem(f"{job.name}: OpenSTA: {refused[0]}")
                report = job.work / "path.txt"
                yield places[job.work], report.read_text() if report.exists() else ""


def read_paths(report: str) -> list[RegisterPath]:
    """The paths that `report_checks` wrote in full."""
    return [_path(part) for part in re.split(r"(?m)^(?=Startpoint: )", report)[1:]]


def _path(part: str) -> RegisterPath:
    ends = dict(_ENDS.findall(part))
    arrival = _ARRIVAL.search(part)
    assert arrival is not None, part
    set_up = _SET_UP.search(part)
    points = _POINT.findall(part[: arrival.start()])
    begin, end = (_CELL_OF_WIRE.sub("", ends[kind]) for kind in ("Start", "End"))
    # The clock pin and the output of the first register, and the input of the last, are points too.
    return RegisterPath(
        begin, end, len(points) - 3, float(arrival[1]), -float(set_up[1]) if set_up else 0.0
    )


def _job(sta: str, netlist: TimedNetlist, work: Path) -> Job:
    work.mkdir()
    reads = ""
    for number, text in enumerate(netlist.libraries):
        (work / f"cells{number}.lib").write_text(text)
        reads += f"read_liberty cells{number}.lib\n"
    (work / "netlist.v").write_text(netlist.verilog)
    script = _SCRIPT.format(libraries=reads, top=netlist.top, ends=netlist.ends)
    (work / "script.tcl").write_text(script)
    return Job(netlist.name, (sta, "-no_splash", "-exit", "script.tcl"), work)
