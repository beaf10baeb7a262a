# amaranth: UnusedElaboratable=no
"""What Verilator is given does the same in each cycle as the RTL's Verilog."""

import re
from typing import Any

from amaranth.hdl import Assert, Cat, Format, Module, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from celosia.sim.verilator.netlist.simulated import simulated_verilog
from celosia.sim.verilator.verilog import to_verilog
from tests.sim.verilator.netlist.test_roll import Cells
from tests.support.verilog_runs import expected_outputs, random_outputs


def test_the_clock_has_a_cycle_per_edge(tmp_path):
    cells = Cells(6)
    text = to_verilog(cells)
    fast = simulated_verilog(text)
    assert "posedge" in text
    assert "posedge" not in fast
    expected = expected_outputs(Cells(6))
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


class Extended(wiring.Component):
    """Signs that are extended, and bits that only look like signs."""

    def __init__(self):
        super().__init__({
            "word": In(signed(12)),
            "whole": Out(signed(32)),
            "part": Out(signed(24)),
            "by_one": Out(signed(13)),
            "unsigned_sum": Out(40),
            "lower_bit": Out(20),
        })

    def elaborate(self, platform):
        m = Module()
        top: Any = self
        m.d.sync += [
            top.whole.eq(top.word),
            top.part.eq(top.word[2:10].as_signed()),
            top.by_one.eq(top.word),
            top.unsigned_sum.eq(Cat(top.word, top.word[-1].replicate(20)) + top.word[:4]),
            top.lower_bit.eq(Cat(top.word, top.word[7].replicate(8))),
        ]
        return m


def test_signs_are_extended(tmp_path):
    signs = Extended()
    text = to_verilog(signs)
    fast = simulated_verilog(text)
    extended = re.findall(r"(\d+)'\(\$signed\(word ([^)]*)\)\)", fast)
    assert sorted(extended) == [("13", ""), ("24", "[9:2]"), ("32", ""), ("32", "")]
    expected = expected_outputs(signs)
    assert random_outputs(fast, signs, tmp_path / "fast", edges=1) == expected
