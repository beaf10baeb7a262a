"""TVM: latency hiding, off and on, over one encoder layer on the RTL."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from celosia.isa.presets import resolve_config
from celosia.lab.compilers.nonlinear import MODES, Nonlinear, by_turns, run_nonlinear
from celosia.lab.compilers.row import Row, System, gained
from celosia.lab.compilers.workload import Workload, run_ways
from celosia.sim.support.progress import Progress
from celosia.sw.compiler.choose import choose
from celosia.sw.compiler.passes import Pass
from celosia.sw.compiler.pipeline import Decide
from celosia.sw.ir.graph import Graph

__all__ = ["TVM", "tvm", "tvm_of"]

TVM: Final = System(
    system="TVM",
    mechanism="latency hiding: units that run ahead of each other",
    claim="70 to 88 % of peak by latency hiding, on VTA",
    source="Chen et al., OSDI 2018, section 6.4",
)
SEQ: Final = 128
_WAYS: Final = ("serial", "as compiled")


def _run(tell: Progress) -> Nonlinear:
    modes = [mode for mode in MODES if mode.name in _WAYS]
    return run_nonlinear(tell, SEQ, modes=modes)


def tvm(tell: Progress, run: Callable[[Progress], Nonlinear] = _run) -> Row:
    """Units by turns, and as compiled: the same layer, with what of the peak each reaches."""
    found = run(tell)
    lines = {name: found.line(name) for name in _WAYS}
    cycles = {name: line.measured.cycles or 0 for name, line in lines.items()}
    peaks = " and ".join(f"{found.utilization(line) or 0:.1%}" for line in lines.values())
    work = f"a layer of {found.shape}, l = {found.seq}: {peaks} of the peak"
    return gained(TVM, work, _WAYS, cycles, found.right)


def tvm_of(tell: Progress, workload: Workload, preset: str = "base") -> Row:
    """Units by turns, and as compiled: the same graphs, with what of the peak each reaches."""
    config = resolve_config(preset)

    def ordered(graph: Graph) -> Sequence[Pass]:
        return [Decide(replace(choose(graph, config), overlap=False))]

    programs = {
        "serial": [by_turns(each) for each in workload.compiled(config, ordered)],
        "as compiled": workload.compiled(config),
    }
    cycles, right = run_ways(workload, programs, config, tell)
    macs = sum(case.graph.macs for case in workload.cases)
    peaks = (f"{macs / (config.macs_per_cycle * each or 1):.1%}" for each in cycles.values())
    work = f"{workload.name}: {' and '.join(peaks)} of the peak"
    return gained(TVM, work, _WAYS, cycles, right)
