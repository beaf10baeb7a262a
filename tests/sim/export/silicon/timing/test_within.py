"""Paths of a module that begin or end at its memories."""

import shutil
import sys
from dataclasses import replace

import pytest

from celosia.sim.export.models import ram_models
from celosia.sim.export.rams import Ram
from celosia.sim.export.silicon.synthesis.modules import split_modules
from celosia.sim.export.silicon.timing.memory_cells import ACCESS_NS, SET_UP_NS, memory_cells
from celosia.sim.export.silicon.timing.sta import find_sta
from celosia.sim.export.silicon.timing.within import paths_within
from tests.support.cells import LIBRARY

MEMORY = "celosia_ram_1r1w_4x1_1"
MODELS = ram_models([Ram(single_port=False, rows=4, bits=1, element_bits=1, reads=1)])
"""A memory of four bits, with a write port and a clocked read port."""
MODULE = f"""\
module \\core.table$7 (clk);
  input clk;
  \\{MEMORY}  rows (
    .clk(clk)
  );
endmodule
"""
"""The name is one that a Tcl script must not look into."""
NETLIST = """\
module top (clk);
  input clk;
  wire old;
  part_0  rows (
    .clk(clk), .read_data(old), .write_data(old)
  );
endmodule
"""
"""What is read is written: no flip-flop, and no cell between the two ends of its path."""
STA = """\
import pathlib
assert "cell({memory})" in pathlib.Path("cells1.lib").read_text()
netlist = pathlib.Path("netlist.v").read_text()
assert "\\\\{memory} rows (" in " ".join(netlist.split()), netlist
assert "link_design {{core.table$7}}" in pathlib.Path("script.tcl").read_text()
"""


CELLS = replace(LIBRARY, liberty=memory_cells("").replace("memories", "cells"))
"""No cells, in a file that OpenSTA takes."""


def timed(sta: str):
    """The paths of the module."""
    modules = split_modules(MODULE)
    kept = {"core.table$7": NETLIST}
    return dict(paths_within(sta, CELLS, modules, kept, MODELS, 1))


def test_memories_are_cells_and_keep_their_names(tmp_path):
    sta = tmp_path / "sta"
    sta.write_text(f"#!{sys.executable}\n{STA.format(memory=MEMORY)}")
    sta.chmod(0o755)
    assert timed(str(sta)) == {"core.table$7": None}


@pytest.mark.skipif(not shutil.which("sta"), reason="opensta is not there")
def test_a_path_from_a_memory_to_itself():
    found = timed(find_sta())["core.table$7"]
    assert found is not None
    assert (found.begin, found.end) == ("rows", "rows")
    assert (found.ns, found.set_up, found.levels) == (ACCESS_NS, SET_UP_NS, 0)
