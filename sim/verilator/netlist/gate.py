"""Gives units that sleep a clock of their own, which stands still while they do.

All registers and memories of such a unit have one more enable (`celosia.hw.lib.sleep`).  Verilator
would look at it at each register, and compute all wires between them.  Behind a clock of its own,
which has an edge in the cycles in which the unit is awake, all this costs one branch::

    unit unit (.awake(awake), ...);               unit unit (.awake(edges), ...);
    always @(posedge clk) begin               =>  always @(posedge awake) begin
      if (awake) begin if (e) r <= d; end           if (e) r <= d;
      if (rst) r <= 0;                              if (rst) r <= 0;
    end                                           end

A unit is awake in reset.  The text must be what `celosia.sim.verilator.verilog` makes of Yosys'
output; the new clock is written for a model that is clocked by both edges, as
`celosia.sim.verilator.netlist.simulated` makes it.
"""

import re

from celosia.hw.lib.sleep import AWAKE
from celosia.sim.verilator.netlist.text import at_the_end, each_module

__all__ = ["gate_clocks"]

_SLEEPS = f"  input {AWAKE};\n"
_RENAMED = re.compile(rf"  input \\{AWAKE}\$\d+ ;\n")
_GIVEN = re.compile(rf"\.{AWAKE}\(({AWAKE}|\\{AWAKE}\$\d+ )\)")
_CLOCK = "@(posedge clk)"
_ENABLED = re.compile(
    rf"(  always {re.escape(_CLOCK)} begin\n)    if \({AWAKE}\) begin\n((?:      .*\n)*)    end\n"
)


def gate_clocks(verilog: str) -> str:
    """`verilog`, with clocks of their own for units that sleep.

    It stays as it is where a unit that sleeps has a port of the enable's name itself.
    """
    if _RENAMED.search(verilog):
        return verilog
    return each_module(verilog, _gate_module)


def _gate_module(module: str) -> str:
    if _SLEEPS in module:
        return _asleep(module)
    for number, awake in enumerate(sorted(set(_GIVEN.findall(module)))):
        clock, before = f"\\$awake_clock_{number} ", f"\\$awake_before_{number} "
        module = module.replace(f".{AWAKE}({awake})", f".{AWAKE}({clock})")
        generated = (
            f"  reg \\$clock_before_{number} = 0, {before}= 0;\n"
            f"  wire {clock};\n"
            f"  assign {clock}= {before}^ ({awake} & (clk ^ \\$clock_before_{number} ));\n"
            f"  always {_CLOCK} begin\n"
            f"    \\$clock_before_{number} <= clk;\n"
            f"    {before}<= {clock};\n"
            f"  end\n"
        )
        module = at_the_end(module, generated)
    return module


def _asleep(module: str) -> str:
    """A module whose port is the clock now: in a cycle that has an edge, the unit is awake."""
    module = _ENABLED.sub(lambda block: block[1] + re.sub("(?m)^  ", "", block[2]), module)
    module = re.sub(rf"(?<=if \(){AWAKE}(?=\))", "1'h1", module)
    module = re.sub(rf"(?m)^(  assign .* = .*)\b{AWAKE}\b", r"\1 1'h1", module)
    return module.replace(_CLOCK, f"@(posedge {AWAKE} )")
