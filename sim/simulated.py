"""The Verilog that Verilator is given: the RTL's, changed for speed.

What it computes in each cycle is the same, register by register.  Its clock has a cycle per edge,
rising or falling: so one evaluation of a model is one cycle.  This needs outputs that do not depend
on inputs of the same cycle, which AXI asks for and a test makes sure of.  An assertion is looked at
only where it fails, because Verilator asks each time whether assertions are on.
"""

import re

from celosia.sim.gate import gate_clocks
from celosia.sim.memories import write_in_place
from celosia.sim.roll import roll_cells
from celosia.sim.sink import sink_logic

__all__ = ["simulated_verilog"]

_ASSERTED = re.compile(r"( *)if \(!(.*)\)\n *(\$write\(.*\);)\n *assert \(\2\);\n")
_CLOCKED = re.compile(r"@\(posedge (\S+) ?\)")


def simulated_verilog(verilog: str) -> str:
    """`verilog`, as `celosia.sim.verilog` writes it, for a model that nobody looks into."""
    text = sink_logic(write_in_place(roll_cells(gate_clocks(verilog))))
    text = _ASSERTED.sub(r"\1if (!\2) begin\n\1  \3\n\1  assert (1'h0);\n\1end\n", text)
    return _CLOCKED.sub(r"@(edge \1 )", text)
