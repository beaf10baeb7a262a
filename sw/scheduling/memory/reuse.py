"""Addresses of tensors, of which those that never live together may have the same bytes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from celosia.isa.config import AcceleratorConfig
from celosia.isa.documents.record import As, Hidden, Named
from celosia.sw.ir.graph import Graph, Tensor
from celosia.sw.ir.program import Op
from celosia.sw.passes.place_tensors import place_tensors
from celosia.sw.scheduling.memory.check_reuse import check_reuse, sharing
from celosia.sw.scheduling.memory.fit import fit
from celosia.sw.scheduling.memory.lives import largest_live_sum, lives

__all__ = ["MemoryPlan", "plan_memory"]


def _names(tensors: frozenset[str]) -> list[str]:
    return sorted(tensors)


@dataclass(frozen=True, kw_only=True)
class MemoryPlan:
    """Where tensors are in memory, and how close that is to what is needed."""

    addresses: Hidden[Mapping[str, int]]
    end: Hidden[int]
    """The first address behind all tensors."""
    fixed: Annotated[int, Named("fixed_bytes")]
    """Bytes of constants, caches and outputs, which are never used again."""
    dense: Annotated[int, Named("apart_bytes")]
    """Bytes that all other tensors would take one behind the other."""
    peak: Annotated[int, Named("peak_bytes")]
    """Bytes that these take."""
    live_sum: Annotated[int, Named("live_bytes")]
    """The most bytes between first and last access, if one operation came after the other."""
    gone: Annotated[frozenset[str], Named("overwritten"), As(_names)]
    """Tensors whose bytes belong to others when the program ends, and so are not compared."""


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
