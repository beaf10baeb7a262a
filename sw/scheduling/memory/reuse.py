"""Addresses of tensors, of which those that never live together may have the same bytes."""

from collections.abc import Sequence

from celosia.isa.config import AcceleratorConfig
from celosia.sw.ir.graph import Graph, Tensor
from celosia.sw.ir.program import Op
from celosia.sw.passes.place_tensors import place_tensors
from celosia.sw.scheduling.memory.check_reuse import check_reuse, sharing
from celosia.sw.scheduling.memory.fit import fit
from celosia.sw.scheduling.memory.lives import largest_live_sum, lives
from celosia.sw.scheduling.memory.memory_plan import MemoryPlan

__all__ = ["plan_memory"]


def plan_memory(
    ops: Sequence[Op],
    graph: Graph,
    tensors: Sequence[Tensor],
    config: AcceleratorConfig,
    base: int,
) -> MemoryPlan:
    """Addresses of the `tensors` of a scheduled program from `base` on; `check_reuse` holds."""
    found = list(lives(ops, graph, tensors, config))
    living = {life.name for life in found}
    fixed, start = place_tensors([each for each in tensors if each.name not in living], base)
    offsets, peak = fit(found)
    addresses = fixed | {name: start + offset for name, offset in offsets.items()}
    check_reuse(ops, graph, addresses, config)
    begins = {life.name: life.begin for life in found}
    pairs = sharing(graph, addresses)
    return MemoryPlan(
        addresses={tensor.name: addresses[tensor.name] for tensor in tensors},
        end=start + peak,
        fixed=start - base,
        dense=sum(life.size for life in found),
        peak=peak,
        live_sum=largest_live_sum(ops, graph, tensors),
        gone=frozenset(min(pair, key=begins.__getitem__) for pair in pairs),
    )
