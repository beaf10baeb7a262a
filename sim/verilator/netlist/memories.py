"""Writes the ports of a memory as one block that reads first and then writes in place.

Verilator keeps what a clocked block writes into a memory, and where, until all blocks are through:
for a memory of which each lane has an enable of its own, several values per lane and cycle.  Where
all readers are registers, they and the writers become one block, which needs nothing of that::

    always @(posedge clk) if (e[0]) rows[a][7:0] <= d[7:0];     if (r) q <= rows[b];
    always @(posedge clk) if (e[1]) rows[a][15:8] <= d[15:8]; => if (&e) rows[a] = d[15:0];
    always @(posedge clk) if (r) q <= rows[b];                   else if (|e) ...

The text must be what `celosia.sim.verilator.verilog` makes of Yosys' output.  A memory that does
not look like that stays as it is.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from celosia.sim.verilator.netlist.text import NAME, at_the_end, each_module

__all__ = ["write_in_place"]

_MEMORY = re.compile(rf"  reg (?:\[(\d+):0\] )?({NAME}) ?\[\d+:0\];\n")
_LANE = re.compile(rf"    if \(({NAME})\[(\d+)\]\)\n      (\S+ ?\[.*\])\[(\d+):(\d+)\] <= (.*);\n")


def write_in_place(verilog: str) -> str:
    """`verilog`, with one block for each memory that only registers read."""
    return each_module(verilog, _merge_ports)


def _merge_ports(module: str) -> str:
    for match in _MEMORY.finditer(module):
        name = re.escape(match[2])
        block = r"  always @\((posedge \S+?) ?\) begin\n((?:%s)+)  end\n"
        write = rf"    if \(.*\)\n      {name} ?\[.*<= .*;\n"
        read = rf"    if \(.*\) begin\n      {NAME} ?<= {name} ?\[[^;]*;\n    end\n"
        writes = [*re.finditer(block % write, module)]
        reads = [*re.finditer(block % read, module)]
        clocks = {found[1] for found in (*writes, *reads)}
        if len(writes) != 1 or not reads or len(clocks) != 1:
            continue
        lanes = [*_LANE.finditer(writes[0][2])]
        reading = "".join(found[2] for found in reads)
        uses = len(re.findall(rf"(?<![\w$\\.]){name}(?![\w$])", module))
        known = 1 + len(lanes) + len(re.findall(read, reading))
        if uses != known or not _complete(lanes, int(match[1] or 0)):
            continue
        for found in (*writes, *reads):
            module = module.replace(found[0], "", 1)
        body = reading + "".join(_writes(lanes))
        merged = f"  always @({clocks.pop()} ) begin\n{body}  end\n"
        module = at_the_end(module, merged)
    return module


def _complete(lanes: list[re.Match[str]], top: int) -> bool:
    """All lanes of a row are there, from the lowest, with one enable each and one address."""
    numbers = [int(lane[2]) for lane in lanes]
    joined = all(int(low[4]) + 1 == int(high[5]) for low, high in pairwise(lanes))
    return (
        len(lanes) > 1
        and numbers == [*range(len(lanes))]
        and len({(lane[1], lane[3]) for lane in lanes}) == 1
        and joined
        and (int(lanes[0][5]), int(lanes[-1][4])) == (0, top)
    )


def _writes(lanes: list[re.Match[str]]) -> Iterator[str]:
    enable, row = lanes[0][1], lanes[0][3]
    whole = ", ".join(lane[6] for lane in reversed(lanes))
    yield f"    if (&{enable}[{len(lanes) - 1}:0]) {row} = {{ {whole} }};\n"
    yield f"    else if (|{enable}[{len(lanes) - 1}:0]) begin\n"
    for lane in lanes:
        yield f"      if ({enable}[{lane[2]}]) {row}[{lane[4]}:{lane[5]}] = {lane[6]};\n"
    yield "    end\n"
