# amaranth: UnusedElaboratable=no
"""Wires in parts: the same outputs, and what is joined and what is not."""

import random
import re
from typing import Any

import pytest
from amaranth.hdl import Const, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from celosia.sim.verilator.netlist.parts import join_parts
from celosia.sim.verilator.verilog import to_verilog
from tests.support.verilog_runs import Beside, expected_outputs, random_outputs

INPUTS = ("a", "b", "c")
BITS = 12


class Packed(wiring.Component):
    """Wires of which each part is another thing, some of them from a module below."""

    def __init__(self, seed: int, depth: int = 1):
        self._random, self._depth = random.Random(seed), depth
        super().__init__(
            {name: In(BITS) for name in INPUTS} | {"out": Out(BITS), "kept": Out(BITS)}
        )

    def elaborate(self, platform):
        m = Module()
        top: Any = self
        values = [getattr(top, name) for name in INPUTS]
        if self._depth:
            m.submodules.inner = inner = Packed(self._random.getrandbits(32), self._depth - 1)
            ports: Any = inner
            for name in INPUTS:
                m.d.comb += getattr(ports, name).eq(self._packed(m, values))
            values += [ports.out, ports.kept]
        for _ in range(4):
            values.append(self._packed(m, values))
        m.d.comb += top.out.eq(self._packed(m, values[::-1]))
        m.d.sync += top.kept.eq(values[-1] ^ values[-2])
        return m

    def _packed(self, m: Module, values: list) -> Signal:
        whole, low = Signal(BITS, name="whole"), 0
        while low < BITS:
            width = min(self._random.choice((1, 2, 5)), BITS - low)
            one, other = (self._random.choice(values) for _ in range(2))
            at = self._random.randrange(BITS - width + 1)
            part = (one[at : at + width], one + other, one[:2] < other[:2], Const(5))
            m.d.comb += whole[low : low + width].eq(self._random.choice(part))
            low += width
        return whole


def test_outputs_are_the_same(tmp_path):
    packed, again = (Beside(*map(Packed, range(4))) for _ in range(2))
    joined = join_parts(to_verilog(packed))
    assert joined.count("$part") > 40
    expected = expected_outputs(again)
    assert random_outputs(joined, packed, tmp_path / "joined") == expected
    assert all(len(found) > 20 for found in packed.outputs_of_each(expected))


MODULE = """\
module top(a, b, y);
  input [2:0] a;
  wire [2:0] a;
  input b;
  wire b;
  output [3:0] y;
  wire [3:0] y;
  wire [3:0] \\$1 ;
{body}endmodule
"""


def join(body: str) -> str:
    """The statements of a module with `body`, after the declarations."""
    joined = join_parts(MODULE.format(body=body))
    return joined.partition("\\$1 ;\n")[2].removesuffix("endmodule\n")


def test_statements_become_one():
    assert join("  assign { y[3], \\$1 , y[0] } = a;\n  assign y[2:1] = 2'h3;\n") == (
        "  wire [5:0] \\$part$0 ;\n  assign \\$part$0  = a;\n"
        "  wire [1:0] \\$part$1 ;\n  assign \\$part$1  = 2'h3;\n"
        "  assign \\$1  = { \\$part$0 [4:1] };\n"
        "  assign y = { \\$part$0 [5:5], \\$part$1 [1:0], \\$part$0 [0:0] };\n"
    )


@pytest.mark.parametrize(
    "body",
    [
        "  assign y = { a, b };\n",
        "  assign y[3:1] = a;\n  inner inner ( .o(y[0]) );\n",
        "  assign y[3:1] = a;\n  assign y[0] = y[3];\n",
        "  assign { y[3:2], \\$1 [0] } = a;\n  assign y[1:0] = 2'h0;\n",
    ],
    ids=["whole", "another driver", "of its own bits", "beside a part that stays"],
)
def test_what_looks_otherwise_stays(body):
    assert join(body) == body


def test_nothing_is_assigned_in_parts_any_more():
    joined = join_parts(to_verilog(Packed(0, depth=0)))
    assert not re.search(r"assign (\{|\S+ ?\[)", joined)
