"""The Verilog that Verilator is given: the RTL's, changed for speed.

What it computes in each cycle is the same, register by register.  Its clock has a cycle per edge,
rising or falling: so one evaluation of a model is one cycle.  This needs outputs that do not depend
on inputs of the same cycle, which AXI asks for and a test makes sure of.  An assertion is looked at
only where it fails, because Verilator asks each time whether assertions are on.  An extended sign,
``{ {12{x[19]}}, x }``, is written as ``$unsigned(32'($signed(x)))``: two shifts, not six
instructions.
"""

import re

from celosia.sim.verilator.netlist.gate import gate_clocks
from celosia.sim.verilator.netlist.memories import write_in_place
from celosia.sim.verilator.netlist.narrow import narrow_sums
from celosia.sim.verilator.netlist.parts import join_parts
from celosia.sim.verilator.netlist.roll import roll_cells
from celosia.sim.verilator.netlist.sink import sink_logic
from celosia.sim.verilator.netlist.text import NAME, each_module

__all__ = ["simulated_verilog"]

_ASSERTED = re.compile(r"( *)if \(!(.*)\)\n *(\$write\(.*\);)\n *assert \(\2\);\n")
_DECLARED = re.compile(rf" \[(\d+):0\] ({NAME}) ?[;=]")
_EXTENDED = re.compile(
    rf"\{{ (?:\{{(\d+)\{{)?({NAME}) ?\[(\d+)\](?:\}}\}})?, \2 ?(?:\[\3:(\d+)\] ?)?\}}"
)
_CLOCKED = re.compile(r"@\(posedge (\S+) ?\)")


def simulated_verilog(verilog: str) -> str:
    """`verilog` of `celosia.sim.verilator.verilog`, for a model that nobody looks into."""
    rolled = write_in_place(roll_cells(join_parts(gate_clocks(verilog))))
    text = sink_logic(narrow_sums(rolled))
    text = _ASSERTED.sub(r"\1if (!\2) begin\n\1  \3\n\1  assert (1'h0);\n\1end\n", text)
    return each_module(_CLOCKED.sub(r"@(edge \1 )", text), _extend_signs)


def _extend_signs(module: str) -> str:
    tops = {match[2].strip(): match[1] for match in _DECLARED.finditer(module)}

    def extend(found: re.Match[str]) -> str:
        copies, name, top, low = found.groups()
        if low is None and tops.get(name.strip()) != top:
            return found[0]
        bits = f"[{top}:{low}]" if low else ""
        return (
            f"$unsigned({int(copies or 1) + int(top) - int(low or 0) + 1}'($signed({name} {bits})))"
        )

    return _EXTENDED.sub(extend, module)
