"""The Verilog that Verilator is given: the RTL's, changed for speed.

What it computes in each cycle is the same, register by register.  Its clock has a cycle per edge,
rising or falling: so one evaluation of a model is one cycle.  This needs outputs that do not depend
on inputs of the same cycle, which AXI asks for and a test makes sure of.
"""

import re

from celosia.sim.memories import write_in_place
from celosia.sim.roll import roll_cells
from celosia.sim.sink import sink_logic

__all__ = ["simulated_verilog"]

_CLOCKED = re.compile(r"@\(posedge (\S+) ?\)")


def simulated_verilog(verilog: str) -> str:
    """`verilog`, as `celosia.sim.verilog` writes it, for a model that nobody looks into."""
    return _CLOCKED.sub(r"@(edge \1 )", sink_logic(write_in_place(roll_cells(verilog))))
