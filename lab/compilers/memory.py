"""Glow: memory that is used again, and what that costs, on the RTL."""

from typing import Final

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.lab.compilers.graph_cycles import graph_cycles
from celosia.lab.compilers.row import Row, System
from celosia.lab.graphs.branches import branches_case
from celosia.sim.support.progress import Progress
from celosia.sw.compiler.passes import Encode
from celosia.sw.compiler.pipeline import compile_graph
from celosia.sw.compiler.reuse import Reuse

__all__ = ["GLOW", "glow"]

GLOW: Final = System(
    system="Glow",
    mechanism="static memory planning with reuse, each pair of tensors that share bytes proved",
    claim="up to 2.7 x over TensorFlow, 1.3 x over TVM without tuning, on a CPU",
    source="Rotem et al., 2018",
)
GRAPH: Final = "texts-deep"


def glow(tell: Progress, graph: str = GRAPH, preset: str = "base") -> Row:
    """Layers with bytes of their own for each tensor, and with bytes that are used again."""
    config, case, memory = resolve_config(preset), branches_case(graph, 0), MemoryTiming()
    cycles, right, work = dict[str, int](), True, graph
    for name, encode in (("apart", Encode()), ("reused", Reuse())):
        tell(name, None)
        compiled = compile_graph(case.graph, config, encode)
        cycles[name], good = graph_cycles(case, compiled, config, memory)
        right = right and good
        if plan := compiled.memory:
            work += f": {plan.dense:,} bytes of tensors in {plan.peak:,}, {plan.live_sum:,} live"
    return Row(
        about=GLOW,
        work=work,
        gain=cycles["apart"] / cycles["reused"] if cycles["reused"] else None,
        cycles=cycles,
        right=right,
    )
