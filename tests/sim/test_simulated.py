# amaranth: UnusedElaboratable=no
"""What Verilator is given does the same in each cycle as the RTL's Verilog."""

from typing import Any

from amaranth.hdl import Assert, Format, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In

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


class Asserting(wiring.Component):
    """Says what is wrong."""

    def __init__(self):
        super().__init__({"right": In(1), "enable": In(1)})

    def elaborate(self, platform):
        m = Module()
        top: Any = self
        with m.If(top.enable):
            m.d.sync += Assert(top.right, Format("wrong"))
        return m


def test_an_assertion_costs_nothing_where_it_holds():
    text = to_verilog(Asserting())
    assert "      assert (right);\n" in text
    assert (
        '      if (!right) begin\n        $write("wrong");\n        assert (1\'h0);\n      end\n'
    ) in simulated_verilog(text)
