"""Compares the sum over units with the whole accelerator as one netlist.

Of the whole, nothing but what memories with a clocked read give and what comes from outside is
driven as it was recorded; of the sum, all that crosses a border of a module is.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from celosia.sim.export.silicon.cells.energies import read_energies
from celosia.sim.export.silicon.cells.library import CellLibrary
from celosia.sim.export.silicon.checks.short_run import record_short_run
from celosia.sim.export.silicon.power.gates import Simulated, simulate
from celosia.sim.export.silicon.power.mapped import map_gates, map_whole
from celosia.sim.export.silicon.power.measure import MEASURED, scopes_of, stimulus_of
from celosia.sim.export.silicon.power.netlist import GateNetlist
from celosia.sim.export.silicon.power.recording import Design
from celosia.sim.export.silicon.synthesis.modules import split_modules
from celosia.sim.export.silicon.synthesis.yosys import Yosys
from celosia.sim.support.progress import Progress, share

__all__ = ["WINDOWS", "FlatCheck", "Netlists", "compare_flat", "netlists_of"]

WINDOWS: Final = 4
"""Parts of the run that are compared each."""
_TOP: Final = MEASURED[0]


@dataclass(frozen=True)
class Netlists:
    """What one netlist, or several together, take."""

    gates: int
    flip_flops: int
    edges_pj: Sequence[float]
    """For edges, clock pins apart: of a cycle, in each window."""
    clock_pj: float
    """For clock pins, in each cycle."""
    wrong: int
    """Outputs that are not in all cycles what was recorded."""
    outputs: int

    def total(self, window: int) -> float:
        """Picojoules of a cycle of a window."""
        return self.edges_pj[window] + self.clock_pj


@dataclass(frozen=True)
class FlatCheck:
    """The sum over units beside the whole."""

    units: Netlists
    whole: Netlists

    def apart(self, window: int) -> float:
        """How much more the sum over units is than the whole, of the whole."""
        return self.units.total(window) / self.whole.total(window) - 1

    @property
    def furthest(self) -> float:
        """How far they are apart in the window in which they are furthest."""
        return max(abs(self.apart(window)) for window in range(WINDOWS))


def compare_flat(
    design: Design, tools: tuple[Yosys, CellLibrary], at_once: int, tell: Progress
) -> FlatCheck:
    """Map `design` module by module and as a whole, and simulate both over a short run.

    Raises what `map_gates` and `record` raise, and `LibertyError` for a library that says nothing
    of energies.
    """
    known = (*tools, read_energies(tools[1].liberty))
    modules = [name for name in split_modules(design.verilog) if name.startswith(_TOP)]
    units = map_gates(known, design, modules, at_once, share(tell, 0, 0.4))
    whole = map_whole(known, design, _TOP, share(tell, 0.4, 0.6))
    scopes = scopes_of(units) | scopes_of({_TOP: whole})
    recorded = record_short_run(design, scopes, share(tell, 0.6, 0.9))
    tell("simulating gates", 0.9)
    found = [
        simulate(netlist, [stimulus_of(name, netlist, recorded)])[0]
        for name, netlist in units.items()
    ]
    (all_of_it,) = simulate(whole, [stimulus_of(_TOP, whole, recorded, flat=True)])
    return FlatCheck(netlists_of(units.values(), found), netlists_of([whole], [all_of_it]))


def netlists_of(netlists: Iterable[GateNetlist], found: Sequence[Simulated]) -> Netlists:
    """What `netlists` take together, each of which was simulated in `found`."""
    known = list(netlists)
    spent = np.sum([each.pj for each in found], axis=0)
    return Netlists(
        sum(each.gates for each in known),
        sum(each.flip_flops for each in known),
        [float(part.mean()) for part in np.array_split(spent, WINDOWS)],
        sum(each.clock_pj for each in known),
        sum(len(each.wrong) for each in found),
        sum(len(each.seen) for each in known),
    )
