"""Paths that leave a module, as OpenSTA writes them."""

import sys

import pytest

from celosia.sim.export.silicon.synthesis.modules import VerilogModule
from celosia.sim.export.silicon.synthesis.yosys import Yosys
from celosia.sim.export.silicon.timing.between import paths_between, read_between
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.progress import silent
from tests.support.cells import LIBRARY, fake_yosys

PATH = """\
Startpoint: {begin}\\\\DFFPOSX1
            (rising edge-triggered flip-flop clocked by clk)
Endpoint: {end}\\\\DFFPOSX1
          (rising edge-triggered flip-flop clocked by clk)
   0.000    0.000 ^ {begin}\\\\DFFPOSX1/CLK (DFFPOSX1)
   0.183    0.183 v {begin}\\\\DFFPOSX1/Q (DFFPOSX1)
   0.164    {ns} v {cell}/Y (BUFX4)
   0.000    {ns} ^ {end}\\\\DFFPOSX1/D (DFFPOSX1)
            {ns}   data arrival time

"""
KNOWN = ["", "issue", "issue.tables", "decoder"]
MODULES = {
    "core": VerilogModule("core", "", [("issue", "core.issue")]),
    "core.issue": VerilogModule("core.issue", "", []),
}
NETLISTS = {
    "core": "module top (clk);\n  part_0  issue (\n    .clk(clk)\n  );\nendmodule\n",
    "core.issue": "module top (clk);\nendmodule\n",
}
YOSYS = """\
import pathlib
text = " ".join(pathlib.Path("modules.v").read_text().split())
assert "\\\\core.issue issue (" in text and "module \\\\core (clk)" in text, text
assert "flatten" in pathlib.Path("link.ys").read_text()
{end}
"""
STA = """\
import pathlib
assert "library(memories)" in pathlib.Path("memories.lib").read_text()
assert "wire signed" not in pathlib.Path("netlist.v").read_text()
pathlib.Path("path.txt").write_text(pathlib.Path({report!r}).read_text())
"""


def path(begin: str, cell: str, end: str, ns: float) -> str:
    return PATH.format(begin=begin, cell=cell, end=end, ns=f"{ns:.3f}")


def test_the_longest_of_each_two_modules():
    found = read_between(
        path("decoder.s3_a[1]", "issue._1_", "issue.tables.needs.load[2]", 2.0)
        + path("decoder.s3_a[0]", "issue._1_", "issue.tables.needs.load[2]", 3.0)
        + path("issue.tables.x.y", "issue.tables._2_", "issue.tables.z", 9.0)
        + path("issue.a", "decoder._7_", "issue.b", 4.0),
        KNOWN,
    )
    assert [(each.begin, each.end, each.path.ns) for each in found] == [
        ("issue", "issue", 4.0),
        ("decoder", "issue.tables", 3.0),
    ]
    assert found[1].path.begin == "decoder.s3_a[0]"
    assert not read_between("No paths found.\n", KNOWN)


def test_modules_are_put_together(tmp_path):
    write = 'pathlib.Path("netlist.v").write_text("wire signed a;")'
    yosys = fake_yosys(tmp_path, YOSYS.format(end=write))
    (tmp_path / "report").write_text(path("a", "issue._1_", "issue.b", 1.5))
    sta = tmp_path / "sta"
    sta.write_text(f"#!{sys.executable}\n{STA.format(report=str(tmp_path / 'report'))}")
    sta.chmod(0o755)
    (found,) = paths_between((yosys, str(sta)), LIBRARY, MODULES, NETLISTS, "", silent)
    assert (found.begin, found.end, found.path.ns) == ("", "issue", 1.5)


@pytest.mark.parametrize("end", ["", "sys.exit(1)"])
def test_yosys_that_makes_nothing(tmp_path, end):
    yosys: Yosys = fake_yosys(tmp_path, YOSYS.format(end=end))
    with pytest.raises(EnvironmentProblem, match="core: "):
        paths_between((yosys, "sta"), LIBRARY, MODULES, NETLISTS, "", silent)
