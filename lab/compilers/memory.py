"""Glow: memory that is used again, and what that costs, on the RTL."""

from typing import Final

from celosia.isa.presets import resolve_config
from celosia.lab.compilers.row import Row, System, gained
from celosia.lab.compilers.workload import Workload, run_ways
from celosia.lab.graphs.branches import branches_case
from celosia.sim.support.progress import Progress
from celosia.sw.compiler.reuse import Reuse

__all__ = ["GLOW", "glow"]

GLOW: Final = System(
    system="Glow",
    mechanism="static memory planning with reuse, each pair of tensors that share bytes proved",
    claim="up to 2.7 x over TensorFlow, 1.3 x over TVM without tuning, on a CPU",
    source="Rotem et al., 2018",
)
GRAPH: Final = "texts-deep"


def _layers() -> Workload:
    return Workload(GRAPH, (branches_case(GRAPH, 0),))


def glow(tell: Progress, workload: Workload | None = None, preset: str = "base") -> Row:
    """Graphs with bytes of their own for each tensor, and with bytes that are used again."""
    config, workload = resolve_config(preset), workload or _layers()
    reused = workload.compiled(config, lambda _: [Reuse()])
    programs = {"apart": workload.compiled(config), "reused": reused}
    cycles, right = run_ways(workload, programs, config, tell)
    plans = [program.memory for program in reused if program.memory]
    plan = max(plans, key=lambda plan: plan.dense)
    sizes = f"{plan.dense:,} bytes of tensors in {plan.peak:,}, {plan.live_sum:,} live"
    return gained(GLOW, f"{workload.name}: {sizes}", ("apart", "reused"), cycles, right)
