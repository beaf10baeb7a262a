"""Makes sums as narrow as what is used of them.

Yosys writes a sum with its carry, ``assign s = a + b;`` of 33 bits, of which most users take 32:
Verilator then computes it in 64 bits (and one of 65 bits in three words).  The low bits of a sum
depend on low bits only, so what nobody looks at need not be there::

    wire [32:0] s;                             wire [31:0] s;
    assign s = a + b;                     =>   assign s = a + b;
    assign t = s[31:0];                        assign t = s[31:0];

The text must be what `celosia.sim.verilator.verilog` makes of Yosys' output.
"""

import re
from collections import defaultdict

from celosia.sim.verilator.netlist.text import NAME, each_module

__all__ = ["narrow_sums"]

_SUM = re.compile(rf"  assign ({NAME}) ?= [^;?:=<>]* [+-] [^;?:=<>]*;\n")
_USE = re.compile(r"(\\\S+ |(?<![\w'$\\.])[A-Za-z_][\w$]*) ?(?:\[(\d+)[^]]*\])?")


def narrow_sums(verilog: str) -> str:
    """`verilog`, its sums without the highest bits where nobody reads these."""
    return each_module(verilog, _narrow_module)


def _narrow_module(module: str) -> str:
    sums = {match[1] for match in _SUM.finditer(module)}
    tops: dict[str, list[int | None]] = defaultdict(list)
    for name, top in _USE.findall(module):
        if name in sums:
            tops[name].append(int(top) if top else None)
    for name in sorted(sums):
        declared = re.search(rf"  wire \[(\d+):0\] {re.escape(name)} ?;\n", module)
        used = [top for top in tops[name] if top is not None]
        # Whole it is only declared and assigned.
        if not declared or not used or len(tops[name]) != len(used) + 2:
            continue
        highest = max(used)
        if highest >= int(declared[1]):
            continue
        module = module.replace(declared[0], f"  wire [{highest}:0] {name};\n", 1)
    return module
