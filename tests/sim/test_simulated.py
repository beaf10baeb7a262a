# amaranth: UnusedElaboratable=no
"""What Verilator is given does the same in each cycle as the RTL's Verilog."""

from celosia.sim.simulated import simulated_verilog
from celosia.sim.verilog import to_verilog
from tests.sim.test_roll import Cells
from tests.support.verilog_runs import random_outputs


def test_the_clock_has_a_cycle_per_edge(tmp_path):
    cells = Cells(6)
    text = to_verilog(cells)
    fast = simulated_verilog(text)
    assert "posedge" in text
    assert "posedge" not in fast
    expected = random_outputs(text, cells, tmp_path / "as_it_is")
    assert random_outputs(fast, cells, tmp_path / "fast", edges=1) == expected
