"""Paths that leave a module, as OpenSTA writes them."""

import sys

from celosia.sim.export.silicon.synthesis.modules import VerilogModule
from celosia.sim.export.silicon.timing.between import paths_between, read_between
from tests.support.cells import LIBRARY

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
STA = """\
import pathlib
assert "library(memories)" in pathlib.Path("cells1.lib").read_text()
text = " ".join(pathlib.Path("netlist.v").read_text().split())
assert "\\\\core.issue issue (" in text and "module \\\\core (clk)" in text, text
pathlib.Path("path.txt").write_text(pathlib.Path({report!r}).read_text())
"""


def path(begin: str, cell: str, end: str, ns: float) -> str:
    return PATH.format(begin=begin, cell=cell, end=end, ns=f"{ns:.3f}")


def test_the_longest_of_each_two_modules():
    found = read_between(
        path("decoder/s3_a[1]", "issue/_1_", "issue/tables/needs.load[2]", 2.0)
        + path("decoder/s3_a[0]", "issue/_1_", "issue/tables/needs.load[2]", 3.0)
        + path("issue/tables/x.y", "issue/tables/_2_", "issue/tables/z", 9.0)
        + path("issue/a", "decoder/_7_", "issue/b", 4.0)
        # `issues` is no place: a signal of the top.
        + path("issues[0]", "issues_1_", "issues[1]", 5.0),
        KNOWN,
    )
    assert [(each.begin, each.end, each.path.ns) for each in found] == [
        ("issue", "issue", 4.0),
        ("decoder", "issue.tables", 3.0),
    ]
    assert found[1].path.begin == "decoder.s3_a[0]"
    assert found[1].path.end == "issue.tables.needs.load[2]"
    assert not read_between("No paths found.\n", KNOWN)


def test_modules_are_put_together(tmp_path):
    (tmp_path / "report").write_text(path("a", "issue/_1_", "issue/b", 1.5))
    sta = tmp_path / "sta"
    sta.write_text(f"#!{sys.executable}\n{STA.format(report=str(tmp_path / 'report'))}")
    sta.chmod(0o755)
    (found,) = paths_between(str(sta), LIBRARY, MODULES, NETLISTS, "")
    assert (found.begin, found.end, found.path.ns) == ("", "issue", 1.5)
