"""Longest paths in nanoseconds, with OpenSTA and a Liberty file that has delays."""

import re
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

from celosia.sim.export.silicon.cells.library import CellLibrary
from celosia.sim.export.silicon.synthesis.jobs import Job, run_jobs
from celosia.sim.export.silicon.synthesis.modules import TOP
from celosia.sim.export.silicon.synthesis.runs import ModuleScript, Unreadable
from celosia.sim.export.silicon.synthesis.yosys import Yosys
from celosia.sim.export.silicon.timing.path import RegisterPath
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.progress import Progress

__all__ = ["LOAD_PF", "find_sta", "longest_paths", "netlist_script", "read_paths"]

LOAD_PF: Final = 0.05
"""What each output of a module drives; each input is driven by an inverter of twice the least."""

_SCRIPT: Final = f"""\
read_liberty -lib -ignore_miss_func cells.lib
read_verilog module.v
read_verilog -lib parts.v
hierarchy -check -top {TOP}
proc -norom
synth -top {TOP} -run begin:fine -nordff
opt -fast -full
memory_map
opt -undriven -fine
techmap
opt -fast
dfflibmap -liberty cells.lib
opt -fast
abc -liberty cells.lib -constr cells.constr
opt_clean -purge
rename -wire
write_verilog -noattr -noexpr netlist.v
"""
_CONSTRAINTS: Final = """\
set_driving_cell {inverter}
set_load {load} [all_outputs]
"""
_INVERTER: Final = re.compile(r"inv(?:x|_)2$", re.IGNORECASE)

_STA: Final = f"""\
read_liberty cells.lib
read_verilog netlist.v
link_design {TOP}
create_clock -name clk -period 10 clk
report_checks -from [all_registers -clock_pins] -to [all_registers -data_pins] -digits 3 > path.txt
exit
"""
_ENDS: Final = re.compile(r"^(Start|End)point: (\S+)", re.MULTILINE)
_POINT: Final = re.compile(r"^ +[\d.-]+ +[\d.-]+ [v^] \S+/\S+ \(\w+\)$", re.MULTILINE)
_ARRIVAL: Final = re.compile(r"^ +([\d.]+) +data arrival time$", re.MULTILINE)
_CELL_OF_WIRE: Final = re.compile(r"\\+\w+$")
_MISSING: Final = (
    "no OpenSTA: sta is not on PATH; the Debian package opensta has it (--levels does without)"
)


def find_sta() -> str:
    """OpenSTA's program.  Raises `EnvironmentProblem` if it is not there."""
    if found := shutil.which("sta"):
        return found
    raise EnvironmentProblem(_MISSING)


def netlist_script(yosys: Yosys, library: CellLibrary, at_once: int) -> ModuleScript:
    """Maps each module for speed; what is kept is its netlist.

    Raises `EnvironmentProblem` for a library without the inverter that drives inputs.
    """
    inverters = sorted(name for name in library.cells if _INVERTER.search(name))
    if not inverters:
        raise EnvironmentProblem(f"{library.identity}: has no inverter INVX2 to drive inputs with")
    constraints = _CONSTRAINTS.format(inverter=inverters[0], load=LOAD_PF)
    files = {"cells.lib": library.liberty, "cells.constr": constraints}
    return ModuleScript(yosys, _SCRIPT, files, "netlist.v", _for_sta, at_once)


def longest_paths(
    sta: str, library: CellLibrary, netlists: Mapping[str, str], at_once: int, tell: Progress
) -> dict[str, RegisterPath | None]:
    """The longest path of each of `netlists`, by name; None: it has none.

    Raises `EnvironmentProblem` if OpenSTA fails.
    """
    found: dict[str, RegisterPath | None] = {}
    with tempfile.TemporaryDirectory(prefix="celosia-timing-") as folder:
        jobs = (
            _job(sta, library, name, text, Path(folder) / str(number))
            for number, (name, text) in enumerate(netlists.items())
        )
        with closing(run_jobs(jobs, at_once)) as ended:
            for job in ended:
                report = job.work / "path.txt"
                paths = read_paths(report.read_text()) if report.exists() else []
                found[job.name] = paths[0] if paths else None
                tell("timing", len(found) / len(netlists))
    return {name: found[name] for name in netlists}


def read_paths(report: str) -> list[RegisterPath]:
    """The paths that `report_checks` wrote in full."""
    return [_path(part) for part in re.split(r"(?m)^(?=Startpoint: )", report)[1:]]


def _path(part: str) -> RegisterPath:
    ends = dict(_ENDS.findall(part))
    arrival = _ARRIVAL.search(part)
    assert arrival is not None, part
    points = _POINT.findall(part[: arrival.start()])
    begin, end = (_CELL_OF_WIRE.sub("", ends[kind]) for kind in ("Start", "End"))
    # The clock pin and the output of the first register, and the input of the last, are points too.
    return RegisterPath(begin, end, len(points) - 3, float(arrival[1]))


def _job(sta: str, library: CellLibrary, name: str, netlist: str, work: Path) -> Job:
    work.mkdir()
    (work / "cells.lib").write_text(library.liberty)
    (work / "netlist.v").write_text(netlist)
    (work / "script.tcl").write_text(_STA)
    return Job(name, (sta, "-no_splash", "-exit", "script.tcl"), work)


def _for_sta(netlist: str) -> str:
    """`netlist` in the words that OpenSTA knows."""
    if "endmodule" not in netlist:
        raise Unreadable("the netlist has no end")
    return netlist.replace("wire signed ", "wire ")
