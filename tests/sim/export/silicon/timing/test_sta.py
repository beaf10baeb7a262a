"""Paths in nanoseconds, as OpenSTA writes them."""

import shutil
import sys

import pytest

from celosia.sim.export.silicon.synthesis.runs import Unreadable
from celosia.sim.export.silicon.synthesis.yosys import Yosys
from celosia.sim.export.silicon.timing import sta
from celosia.sim.export.silicon.timing.path import RegisterPath
from celosia.sim.export.silicon.timing.sta import (
    find_sta,
    longest_paths,
    netlist_script,
    read_paths,
)
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.progress import silent
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
    sys.exit("Error: syntax error")
if "registers" in text:
    pathlib.Path("path.txt").write_text(pathlib.Path({report!r}).read_text())
"""


def test_a_report():
    found = RegisterPath("s2_square[7]", "write[90]", 2, 0.55)
    assert read_paths(REPORT) == [found]
    assert read_paths(REPORT + REPORT) == [found, found]
    assert not read_paths("No paths found.\n")


def test_each_netlist_is_timed(tmp_path, monkeypatch):
    (tmp_path / "report").write_text(REPORT)
    program = tmp_path / "sta"
    text = FAKE.format(report=str(tmp_path / "report"))
    program.write_text(f"#!{sys.executable}\n{text}")
    program.chmod(0o755)
    netlists = {"a": "registers", "b": "none"}
    found = longest_paths(str(program), LIBRARY, netlists, 2, silent)
    assert found["a"] is not None
    assert found["a"].ns == 0.55
    assert found["b"] is None
    with pytest.raises(EnvironmentProblem, match=r"(?s)c: sta ended .* 1.*syntax error"):
        longest_paths(str(program), LIBRARY, {"c": "refused"}, 1, silent)


def test_no_opensta(monkeypatch):
    monkeypatch.setattr(sta.shutil, "which", lambda _name: None)
    with pytest.raises(EnvironmentProblem, match=r"Debian package opensta has it \(--levels"):
        find_sta()


def test_a_library_without_an_inverter():
    with pytest.raises(EnvironmentProblem, match="demo cells: has no inverter INVX2"):
        netlist_script(Yosys((), ""), LIBRARY, 1)


def test_half_a_netlist():
    library = type(LIBRARY)(**{**vars(LIBRARY), "cells": {"INVX2": LIBRARY.cells["INV"]}})
    script = netlist_script(Yosys((), ""), library, 1)
    assert "set_driving_cell INVX2\n" in script.files["cells.constr"]
    assert script.condense("wire signed [1:0] a;\nendmodule\n") == "wire [1:0] a;\nendmodule\n"
    with pytest.raises(Unreadable):
        script.condense("module top(")


@pytest.mark.skipif(not shutil.which("sta"), reason="opensta is not there")
def test_opensta_itself_refuses_what_is_no_netlist():
    """It says so and goes on, so that what is missing shows."""
    found = longest_paths(find_sta(), LIBRARY, {"x": "module x(; endmodule"}, 1, silent)
    assert found == {"x": None}
