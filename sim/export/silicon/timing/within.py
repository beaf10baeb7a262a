"""The longest path of each module, from one of its registers or memories to one of them."""

from collections.abc import Iterator, Mapping

from celosia.sim.export.silicon.cells.library import CellLibrary
from celosia.sim.export.silicon.synthesis.modules import VerilogModule, embedded
from celosia.sim.export.silicon.timing.memory_cells import memory_cells
from celosia.sim.export.silicon.timing.path import RegisterPath
from celosia.sim.export.silicon.timing.sta import TimedNetlist, read_paths, report_paths

__all__ = ["paths_within"]


def paths_within(
    sta: str,
    library: CellLibrary,
    modules: Mapping[str, VerilogModule],
    kept: Mapping[str, str],
    models: str,
    at_once: int,
) -> Iterator[tuple[str, RegisterPath | None]]:
    """Each of `modules` with its longest path, in the order in which OpenSTA (`sta`) ends.

    `kept` are their netlists, and `models` are memories with a clocked read: at these a path begins
    and ends as at a register.  Modules that are instantiated are left open.  None: there is no
    path.  Raises `EnvironmentProblem` if OpenSTA fails.
    """
    libraries = [library.liberty, memory_cells(models)]
    netlists = [
        TimedNetlist(name, embedded(kept[name], module), name, libraries)
        for name, module in modules.items()
    ]
    for netlist, report in report_paths(sta, netlists, at_once):
        yield netlist.name, next(iter(read_paths(report)), None)
