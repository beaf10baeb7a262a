"""IOS: graphs with branches, operator by operator and beside each other, on the RTL."""

from typing import Final

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.lab.compilers.row import Row, System, gained
from celosia.lab.compilers.workload import Workload, run_ways
from celosia.lab.graphs.branches import branches_case
from celosia.lab.tune.branches.plans import staged_plans
from celosia.sim.support.progress import Progress
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.compiler.pipeline import Decide
from celosia.sw.compiler.verified import compile_graph

__all__ = ["IOS", "ios"]

IOS: Final = System(
    system="IOS",
    mechanism="stages of operators that run at once, by dynamic programming",
    claim="1.1 to 1.5 x over TensorRT for networks with branches",
    source="Ding et al., MLSys 2021",
)
GRAPH: Final = "decode-deep"
MEMORY: Final = MemoryTiming(bytes_per_cycle=8)


def _branches() -> Workload:
    return Workload(GRAPH, (branches_case(GRAPH, 0),), MEMORY)


def ios(tell: Progress, workload: Workload | None = None, preset: str = "base") -> Row:
    """Graphs as compiled, and by each strategy of stages."""
    config, workload = resolve_config(preset), workload or _branches()
    programs = {"as compiled": list(workload.compiled(config))}
    tell(f"{workload.name}, looking for stages", None)
    for case in workload.cases:
        for strategy, plan in staged_plans(case.graph, config, workload.timing).items():
            staged: list[CompiledGraph] = programs.setdefault(strategy, [])
            staged.append(compile_graph(case.graph, config, Decide(plan), timing=workload.timing))
    cycles, right = run_ways(workload, programs, config, tell)
    work = f"{workload.name}, {workload.timing.bytes_per_cycle} bytes per cycle"
    return gained(IOS, work, ("sequential", "dp"), cycles, right)
