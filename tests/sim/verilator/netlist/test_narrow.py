# amaranth: UnusedElaboratable=no
"""Narrow sums: the same outputs, and what is narrowed and what is not."""

from typing import Any

import pytest
from amaranth.hdl import Module, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from celosia.sim.verilator.netlist.narrow import narrow_sums
from celosia.sim.verilator.verilog import to_verilog
from tests.support.verilog_runs import expected_outputs, random_outputs


class Sums(wiring.Component):
    """Sums and differences, with and without their carries."""

    def __init__(self):
        super().__init__({
            "a": In(12),
            "b": In(12),
            "c": In(signed(9)),
            "low": Out(12),
            "lower": Out(5),
            "carry": Out(13),
            "top": Out(1),
            "signs": Out(signed(12)),
            "chain": Out(12),
        })

    def elaborate(self, platform):
        m = Module()
        top: Any = self
        m.d.sync += [
            top.low.eq(top.a + top.b),
            top.lower.eq(top.a - top.b),
            top.carry.eq(top.a + top.c),
            top.top.eq((top.a - top.c)[-1]),
            top.signs.eq(top.c - top.b.as_signed()),
            top.chain.eq((top.a + top.b + 3) ^ (top.a + top.b)[:12]),
        ]
        return m


def test_outputs_are_the_same(tmp_path):
    sums = Sums()
    text = to_verilog(sums)
    narrow = narrow_sums(text)
    assert narrow != text
    expected = expected_outputs(Sums())
    assert random_outputs(narrow, sums, tmp_path / "narrow") == expected
    assert len(set(expected)) > 100


MODULE = """\
module top(a, b, y);
  wire [8:0] \\$1 ;
  assign \\$1  = {sum};
{use}endmodule
"""


@pytest.mark.parametrize(
    ("operation", "use", "top"),
    [
        ("a + b", "  assign y = \\$1 [7:0];\n", 7),
        ("$signed(a) - $signed(b)", "  assign y = { \\$1 [3], \\$1 [5:4] };\n", 5),
        ("a + b", "  assign y = \\$1 ;\n", 8),
        ("a + b", "  assign y = \\$1 [7:0];\n  assign z = \\$1 ;\n", 8),
        ("a + b", "  assign y = \\$1 [7:0];\n  assign z = \\$1 [8];\n", 8),
        ("a + b", "  assign y = \\$1 [i];\n", 8),
        ("a >> b", "  assign y = \\$1 [7:0];\n", 8),
        ("a + b < c", "  assign y = \\$1 [7:0];\n", 8),
        ("c ? a + b : a", "  assign y = \\$1 [7:0];\n", 8),
    ],
)
def test_a_sum_is_as_wide_as_its_uses(operation, use, top):
    text = MODULE.format(sum=operation, use=use)
    assert narrow_sums(text) == text.replace("wire [8:0]", f"wire [{top}:0]")
