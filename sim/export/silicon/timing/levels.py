"""Longest paths in levels of logic, with Yosys alone.

A level is a gate of two inputs, or a multiplexer of two.  Yosys' `ltp` knows no registers, so it is
given the gates alone that are behind a register and before one: the longest path among them begins
and ends at registers of the module.
"""

import re
from typing import Final

from celosia.sim.export.silicon.synthesis.runs import READ_MODULE, ModuleScript, Unreadable
from celosia.sim.export.silicon.synthesis.yosys import Yosys
from celosia.sim.export.silicon.timing.path import RegisterPath

__all__ = ["LEVELS", "level_script", "read_levels"]

LEVELS: Final = "path.txt"
_SCRIPT: Final = f"""\
memory_map
opt -undriven -fine
techmap
opt -fast
abc
opt_clean
select -set begins t:$_*DFF*_ %co1:+[Q] t:$_*DFF*_ %d
select -set ends t:$_*DFF*_ %ci1:+[D,E,R] t:$_*DFF*_ %d
select -set between @begins %coe* @ends %cie* %i
tee -o {LEVELS} ltp -noff @between
"""
_LENGTH: Final = re.compile(r"^Longest topological path in \S+ \(length=(-?\d+)\)", re.MULTILINE)
_NET: Final = re.compile(r"^ *\d+: \\?(\S+(?: \[[\d:]+\])?)", re.MULTILINE)


def level_script(yosys: Yosys, at_once: int) -> ModuleScript:
    """Finds the longest path of each module; `read_levels` reads what is kept."""
    return ModuleScript(yosys, READ_MODULE, {LEVELS: _SCRIPT}, {}, _path_alone, at_once)


def read_levels(text: str) -> RegisterPath | None:
    """The path that `ltp` found; None: no gate is between two registers."""
    length = _LENGTH.search(text)
    nets = _NET.findall(text)
    if length is None or int(length[1]) <= 0 or len(nets) < 2:
        return None
    return RegisterPath(nets[0].replace(" ", ""), nets[-1].replace(" ", ""), int(length[1]))


def _path_alone(text: str) -> str:
    """What `ltp` said, if it said anything."""
    if "Executing LTP" not in text:
        raise Unreadable("ltp has written nothing")
    return text
