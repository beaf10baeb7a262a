"""IOS: graphs with branches, operator by operator and beside each other, on the RTL."""

from typing import Final

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.lab.compilers.graph_cycles import graph_cycles
from celosia.lab.compilers.row import Row, System
from celosia.lab.graphs.branches import branches_case
from celosia.lab.tune.branches.plans import staged_plans
from celosia.sim.support.progress import Progress
from celosia.sw.compiler.pipeline import Decide, compile_graph

__all__ = ["IOS", "ios"]

IOS: Final = System(
    system="IOS",
    mechanism="stages of operators that run at once, by dynamic programming",
    claim="1.1 to 1.5 x over TensorRT for networks with branches",
    source="Ding et al., MLSys 2021",
)
GRAPH: Final = "decode-deep"
MEMORY: Final = MemoryTiming(bytes_per_cycle=8)


def ios(
    tell: Progress, graph: str = GRAPH, memory: MemoryTiming = MEMORY, preset: str = "base"
) -> Row:
    """A graph of `celosia.lab.graphs.branches` as compiled, and by each strategy of stages."""
    config, case = resolve_config(preset), branches_case(graph, 0)
    compiled = {"as compiled": compile_graph(case.graph, config, timing=memory)}
    tell("looking for stages", None)
    for strategy, plan in staged_plans(case.graph, config, memory).items():
        compiled[strategy] = compile_graph(case.graph, config, Decide(plan))
    cycles, right = dict[str, int](), True
    for name, program in compiled.items():
        tell(name, None)
        cycles[name], good = graph_cycles(case, program, config, memory)
        right = right and good
    return Row(
        about=IOS,
        work=f"{graph}, {memory.bytes_per_cycle} bytes per cycle",
        gain=cycles["sequential"] / cycles["dp"] if cycles["dp"] else None,
        cycles=cycles,
        right=right,
    )
