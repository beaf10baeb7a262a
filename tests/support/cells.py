"""A cell library that is large enough for a netlist, and a stand-in for Yosys."""

import sys
from pathlib import Path

from celosia.sim.export.silicon.cells.liberty import gate_equivalent, read_cells
from celosia.sim.export.silicon.cells.library import CellLibrary
from celosia.sim.export.silicon.synthesis.yosys import Yosys

LIBERTY = """\
library(demo) {
  cell(INV) { area : 2; pin(A) { direction : input; }
    pin(Y) { direction : output; function : "(!A)"; } }
  cell(NAND2) { area : 4; pin(A) { direction : input; } pin(B) { direction : input; }
    pin(Y) { direction : output; function : "(!(A*B))"; } }
  cell(DFF) { area : 20; ff(IQ, IQN) { clocked_on : "C"; next_state : "D"; }
    pin(C) { direction : input; clock : true; } pin(D) { direction : input; }
    pin(Q) { direction : output; function : "IQ"; } }
}
"""
CELLS = read_cells(LIBERTY)
LIBRARY = CellLibrary("demo", "demo cells", LIBERTY, CELLS, gate_equivalent(CELLS))


def fake_yosys(folder: Path, body: str) -> Yosys:
    """A program in Yosys' place that does `body` (Python), in the directory of its script."""
    path = folder / "fake_yosys.py"
    head = 'import sys\nif "-V" in sys.argv:\n    print("Yosys 9.9 (fake)"), sys.exit()\n'
    path.write_text(head + body)
    return Yosys((sys.executable, str(path)), "Yosys 9.9 (fake)")
