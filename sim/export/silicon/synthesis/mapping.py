"""Modules to cells: what each module of a design is made of, without the modules in it.

Nothing is optimized across the borders of modules.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from celosia.sim.export.silicon.cells.library import CellLibrary
from celosia.sim.export.silicon.synthesis.modules import VerilogModule
from celosia.sim.export.silicon.synthesis.runs import READ_MODULE, ModuleScript, Unreadable
from celosia.sim.export.silicon.synthesis.yosys import Yosys
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.progress import Progress

__all__ = ["Mapper", "Netlist"]

_MEMORY: Final = "$mem"
_IGNORED: Final = ("$scopeinfo",)
"""Cells that are nothing."""

_PRODUCT: Final = "netlist.json"
_SCRIPT: Final = f"""\
opt -undriven -fine
techmap
opt -fast
dfflibmap -liberty cells.lib
opt -fast
abc -liberty cells.lib -script "+strash;ifraig;dc2;map"
opt_clean
tee -o {_PRODUCT} stat -json
"""
"""`synth` without its last part: memories stay what they are, with no register of their readers in
them; tables of constants are logic; the library's cells take the place of generic ones at once."""


@dataclass(frozen=True)
class Netlist:
    """What a module was mapped to."""

    cells: Mapping[str, int]
    """How many of each cell of the library."""
    memories: int
    """Memories that stayed."""


@dataclass(frozen=True)
class Mapper:
    """Maps modules to the cells of `library`."""

    yosys: Yosys
    library: CellLibrary
    at_once: int = 1

    def map_design(
        self, verilog: str, models: str, tell: Progress
    ) -> tuple[dict[str, VerilogModule], dict[str, Netlist]]:
        """The modules of `verilog`, and what became of each; `models` are black boxes.

        Raises what `ModuleScript.run` raises, and `EnvironmentProblem` for a module of which a part
        has no cell in the library.
        """
        script = ModuleScript(
            yosys=self.yosys,
            begin=READ_MODULE,
            ends={_PRODUCT: _SCRIPT},
            files={"cells.lib": self.library.liberty},
            condense=_cell_counts,
            at_once=self.at_once,
        )
        modules, kept = script.run(verilog, models, tell)
        return modules, {
            name: self._netlist(name, json.loads(text)) for name, text in kept[_PRODUCT].items()
        }

    def _netlist(self, name: str, counts: Mapping[str, int]) -> Netlist:
        library = self.library.cells
        cells = {cell: count for cell, count in counts.items() if cell in library}
        memories = sum(count for cell, count in counts.items() if cell.startswith(_MEMORY))
        left = sorted(
            cell
            for cell in counts
            if cell.startswith("$") and not cell.startswith((_MEMORY, *_IGNORED))
        )
        if left:
            raise EnvironmentProblem(
                f"{name}: Yosys left {', '.join(left)}, for which {self.library.identity} "
                "has no cells with an area"
            )
        return Netlist(cells, memories)


def _cell_counts(statistics: str) -> str:
    """The number of cells of each kind, in what `stat -json` wrote about one module."""
    try:
        (module,) = json.loads(statistics)["modules"].values()
        counts = {str(kind): int(n) for kind, n in module["num_cells_by_type"].items()}
    except (KeyError, TypeError, AttributeError) as error:
        raise Unreadable(f"no cells in {statistics[:80]!r}: {error!r}") from None
    return json.dumps(counts, sort_keys=True)
