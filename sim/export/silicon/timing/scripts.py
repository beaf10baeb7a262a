"""Modules to netlists for speed, by either of two scripts of ABC.

Yosys makes each adder a prefix network of logarithmic depth.  What ABC's own script makes of it is
mostly a chain of carries; a script that only maps, buffers and sizes keeps it.  Neither is what a
synthesis tool that is paid for would do, so that a path which is long by both is long.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from celosia.isa.config import did_you_mean
from celosia.sim.export.silicon.cells.library import CellLibrary
from celosia.sim.export.silicon.synthesis.runs import READ_MODULE, ModuleScript, Unreadable
from celosia.sim.export.silicon.synthesis.yosys import Yosys
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.problems import InputError

__all__ = ["LOAD_PF", "SCRIPTS", "known_scripts", "netlist_product", "netlist_script"]

LOAD_PF: Final = 0.05
"""What each output of a module drives; each input is driven by an inverter of twice the least."""

SCRIPTS: Final[Mapping[str, str]] = {
    "default": "",
    "prefix": ' -D 2000 -script "+strash;map,-B,0.9,{D};topo;buffer;upsize,{D};dnsize,{D};stime"',
}
"""What `abc` is given beside the cells, by the name of the script.

Both buffer and size.  2,000 ps are less than any product takes, so that all paths are asked to be
as short as they can.
"""

_BEGIN: Final = f"""\
read_liberty -lib -ignore_miss_func cells.lib
{READ_MODULE}\
memory_map
opt -undriven -fine
techmap
opt -fast
dfflibmap -liberty cells.lib
opt -fast
"""
_END: Final = """\
abc -liberty cells.lib -constr cells.constr%s
opt_clean -purge
rename -wire
write_verilog -noattr -noexpr -simple-lhs %s
"""
_CONSTRAINTS: Final = """\
set_driving_cell {inverter}
set_load {load} [all_outputs]
"""
_INVERTER: Final = re.compile(r"inv(?:x|_)2$", re.IGNORECASE)


def known_scripts(names: Sequence[str]) -> Sequence[str]:
    """`names`, if each is a script; all scripts if there are none.  Raises `InputError`."""
    for name in names:
        if name not in SCRIPTS:
            raise InputError(
                f"--script {name}: there is no such script; there are {', '.join(SCRIPTS)}"
                f"{did_you_mean(name, SCRIPTS)}"
            )
    return list(dict.fromkeys(names)) or list(SCRIPTS)


def netlist_product(name: str) -> str:
    """The file with the netlist that the script `name` makes."""
    return f"{name}.v"


def netlist_script(
    yosys: Yosys, library: CellLibrary, names: Iterable[str], at_once: int
) -> ModuleScript:
    """Maps each module for speed by each of the scripts `names`; netlists are what is kept.

    Raises `EnvironmentProblem` for a library without the inverter that drives inputs.
    """
    inverters = sorted(name for name in library.cells if _INVERTER.search(name))
    if not inverters:
        raise EnvironmentProblem(f"{library.identity}: has no inverter INVX2 to drive inputs with")
    constraints = _CONSTRAINTS.format(inverter=inverters[0], load=LOAD_PF)
    files = {"cells.lib": library.liberty, "cells.constr": constraints}
    products = {netlist_product(name): SCRIPTS[name] for name in names}
    ends = {product: _END % (more, product) for product, more in products.items()}
    return ModuleScript(yosys, _BEGIN, ends, files, _for_sta, at_once)


def _for_sta(netlist: str) -> str:
    """`netlist` in the words that OpenSTA knows."""
    if "endmodule" not in netlist:
        raise Unreadable("the netlist has no end")
    return netlist.replace("wire signed ", "wire ")
