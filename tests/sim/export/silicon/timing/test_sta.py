"""Paths in nanoseconds, as OpenSTA writes them."""

import shutil
import sys

import pytest

from celosia.sim.export.silicon.timing import sta
from celosia.sim.export.silicon.timing.memory_cells import memory_cells
from celosia.sim.export.silicon.timing.path import RegisterPath
from celosia.sim.export.silicon.timing.sta import TimedNetlist, find_sta, read_paths, report_paths
from celosia.sim.support.errors import EnvironmentProblem
from tests.support.cells import LIBRARY

REPORT = """\
Startpoint: s2_square[7]\\\\DFFPOSX1
            (rising edge-triggered flip-flop clocked by clk)
Endpoint: write[90]\\\\DFFPOSX1
          (rising edge-triggered flip-flop clocked by clk)
Path Group: clk
Path Type: max

   Delay     Time   Description
-----------------------------------------------------------
   0.000    0.000   clock clk (rise edge)
   0.000    0.000   clock network delay (ideal)
   0.000    0.000 ^ s2_square[7]\\\\DFFPOSX1/CLK (DFFPOSX1)
   0.183    0.183 v s2_square[7]\\\\DFFPOSX1/Q (DFFPOSX1)
   0.164    0.347 v _2019_/Y (BUFX4)
   0.203    0.550 ^ _2303_/Y (NAND2X1)
   0.000    0.550 ^ write[90]\\\\DFFPOSX1/D (DFFPOSX1)
            0.550   data arrival time

  10.000   10.000   clock clk (rise edge)
           10.000 ^ write[90]\\\\DFFPOSX1/CLK (DFFPOSX1)
  -0.184    9.816   library setup time
            9.816   data required time
"""
FAKE = """\
import pathlib, sys
text = pathlib.Path("netlist.v").read_text()
if "refused" in text:
    sys.exit("syntax error")
if "unread" in text:
    print("Warning: cells.lib\\nError: netlist.v, line 7 syntax\\nError: top")
if "registers" in text:
    pathlib.Path("path.txt").write_text(pathlib.Path({report!r}).read_text())
"""


def netlist(name: str, verilog: str) -> TimedNetlist:
    return TimedNetlist(name, verilog, "top", [LIBRARY.liberty])


def test_a_report():
    found = RegisterPath("s2_square[7]", "write[90]", 2, 0.55, 0.184)
    assert read_paths(REPORT) == [found]
    assert found.period == pytest.approx(0.734)
    assert read_paths(REPORT + REPORT) == [found, found]
    assert not read_paths("No paths found.\n")


def test_a_path_without_a_time_asks_nothing_of_a_cycle():
    assert RegisterPath("a", "b", 9).period == 0


@pytest.fixture
def program(tmp_path):
    """Something in OpenSTA's place."""
    (tmp_path / "report").write_text(REPORT)
    path = tmp_path / "sta"
    path.write_text(f"#!{sys.executable}\n{FAKE.format(report=str(tmp_path / 'report'))}")
    path.chmod(0o755)
    return str(path)


def test_each_netlist_is_timed(program):
    netlists = [netlist("a", "registers"), netlist("b", "none")]
    found = {each.name: report for each, report in report_paths(program, netlists, 2)}
    assert found == {"a": REPORT, "b": ""}


def test_a_netlist_that_opensta_refuses_is_named(program):
    """OpenSTA goes on behind a line that it does not know, with exit code 0."""
    with pytest.raises(EnvironmentProblem, match=r"(?s)c: sta ended .* 1.*syntax error"):
        list(report_paths(program, [netlist("c", "refused")], 1))
    with pytest.raises(EnvironmentProblem, match=r"^c: OpenSTA: Error: netlist.v, line 7 syntax$"):
        list(report_paths(program, [netlist("c", "unread, registers")], 1))


def test_no_opensta(monkeypatch):
    monkeypatch.setattr(sta.shutil, "which", lambda _name: None)
    with pytest.raises(EnvironmentProblem, match=r"Debian package opensta has it \(--levels"):
        find_sta()


@pytest.mark.skipif(not shutil.which("sta"), reason="opensta is not there")
def test_opensta_itself():
    """A module without registers has no path; what is no netlist is refused."""
    cells = [memory_cells("")]
    (empty,) = report_paths(find_sta(), [TimedNetlist("x", "module y(); endmodule", "y", cells)], 1)
    assert empty[1] == ""
    with pytest.raises(EnvironmentProblem, match=r"x: OpenSTA: Error: netlist\.v, line 1"):
        list(report_paths(find_sta(), [TimedNetlist("x", "module y(; endmodule", "y", cells)], 1))
