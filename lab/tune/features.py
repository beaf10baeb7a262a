"""What a learned model of cycles sees of a plan: numbers that mean the same for every workload.

They are of the program that the plan becomes, not of the choices that it was made from: so what was
learned from one shape, graph or configuration says something about the next one.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from math import log2
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.compiler.passes import Encode, Expand, Schedule
from celosia.sw.ir.graph import Graph, Tensor
from celosia.sw.ir.program import Load, LoadParameters, Products, Space, Store, Transform
from celosia.sw.planning.forms.plan import Plan, simple_stages
from celosia.sw.planning.forms.stages import LinearStage

__all__ = ["FEATURES", "Seen", "seen_of"]

FEATURES: Final = (
    "cycles",
    "dim",
    "bus_bytes",
    "latency",
    "memory_rate",
    "products",
    "product_rows",
    "nests",
    "nest_k",
    "nest_columns",
    "loads",
    "load_bytes",
    "load_rows",
    "parameters",
    "stores",
    "store_bytes",
    "store_rows",
    "from_sums",
    "transforms",
    "transform_elements",
    "commands",
    "waiting_loads",
    "load_size",
    "first_load",
    "last_store",
    "blocks",
    "block_tiles",
    "kept_a",
    "kept_w",
    "banks_of_rings",
    "rings_apart",
    "by_columns",
    "by_need",
    "deferred",
    "transposed",
)
"""The names of all features, in the order of a row of numbers."""


@dataclass(frozen=True)
class Seen:
    """A legal plan as the model of cycles sees it."""

    predicted: int
    """The cycles that it takes by the timeline."""
    features: Mapping[str, float]
    """Its numbers, by the names of `FEATURES`: sizes as logarithms of 2, times and counts as a
    part of the predicted cycles."""


def seen_of(graph: Graph, config: AcceleratorConfig, plan: Plan, timing: MemoryTiming) -> Seen:
    """What a legal plan of a verified graph becomes, and the timeline's cycles of that."""
    compiled = CompiledGraph(graph=graph, config=config, timing=timing, plan=plan)
    for each in (Expand(), Schedule(), Encode()):
        compiled = each.apply(compiled)
    cycles = compiled.expected(timing).cycles
    found = {
        "cycles": log2(cycles),
        "dim": log2(config.dim),
        "bus_bytes": log2(config.bus_bytes),
        "latency": log2(1 + timing.latency),
        "memory_rate": log2(timing.bytes_per_cycle),
        "commands": sum(map(len, compiled.commands)) / cycles,
        **_of_program(compiled, cycles),
        **_of_plan(compiled),
    }
    return Seen(cycles, {name: round(float(found[name]), 5) for name in FEATURES})


def _of_program(compiled: CompiledGraph, cycles: int) -> Mapping[str, float]:
    """The features of operations: how many of each kind, how large, how long units must work."""
    ops = [written.op for written in compiled.ops]
    tensors, bus, dim = compiled.graph.tensors, compiled.config.bus_bytes, compiled.config.dim
    nests = [op for op in ops if isinstance(op, Products)]
    loads = [op for op in ops if isinstance(op, Load)]
    stores = [op for op in ops if isinstance(op, Store)]
    transforms = [op for op in ops if isinstance(op, Transform)]
    moved = [_bytes(op, tensors) for op in loads]
    left = [_bytes(op, tensors) for op in stores]
    products = sum(op.count for op in nests)
    count, nested = max(1, len(loads)), max(1, len(nests))
    return {
        "products": products * dim / cycles,
        "product_rows": sum(op.count * max(op.rows, dim) for op in nests) / cycles,
        "nests": dim * len(nests) / cycles,
        "nest_k": log2(1 + sum(op.k for op in nests) / nested),
        "nest_columns": log2(1 + sum(op.columns for op in nests) / nested),
        "loads": dim * len(loads) / cycles,
        "load_bytes": sum(moved) / bus / cycles,
        "load_rows": sum(op.to.rows * op.to.blocks for op in loads) / cycles,
        "parameters": dim * sum(isinstance(op, LoadParameters) for op in ops) / cycles,
        "stores": dim * len(stores) / cycles,
        "store_bytes": sum(left) / bus / cycles,
        "store_rows": sum(op.source.rows * op.source.blocks for op in stores) / cycles,
        "from_sums": sum(op.source.space is Space.ACCUMULATOR for op in stores)
        / max(1, len(stores)),
        "transforms": dim * len(transforms) / cycles,
        "transform_elements": sum(op.source.rows * op.cols for op in transforms)
        / compiled.config.lanes
        / cycles,
        "waiting_loads": sum(bool(op.after) for op in loads) / count,
        "load_size": log2(1 + sum(moved) / count),
        "first_load": moved[0] / bus / cycles if moved else 0,
        "last_store": left[-1] / bus / cycles if left else 0,
        "transposed": sum(op.w_transposed for op in nests) / nested,
    }


def _bytes(op: Load | Store, tensors: Mapping[str, Tensor]) -> int:
    """Bytes that a load or a store moves."""
    tensor = tensors[op.view.tensor]
    return tensor.rows_of(op.view.rows) * op.view.cols * tensor.element_bytes


def _of_plan(compiled: CompiledGraph) -> Mapping[str, float]:
    """The features of the plan: blocks, what is kept, where rings are."""
    plan = compiled.plan
    linear = [stage for stage in simple_stages(plan) if isinstance(stage, LinearStage)]
    blocks = sum(len(stage.rows) * len(stage.tiles) for stage in linear)
    heights = [rows * tiles for each in linear for rows in each.rows for tiles in each.tiles]
    rings = [*_banks(compiled)]
    apart = sum(not (one & other) for n, one in enumerate(rings) for other in rings[:n])
    some = max(1, len(linear))
    return {
        "blocks": log2(1 + blocks),
        "block_tiles": log2(1 + sum(heights) / compiled.config.dim / max(1, len(heights))),
        "kept_a": sum(stage.a.keep for stage in linear) / some,
        "kept_w": sum(stage.w.keep for stage in linear) / some,
        "banks_of_rings": sum(map(len, rings)) / max(1, len(rings)),
        "rings_apart": apart / max(1, len(rings) * (len(rings) - 1) // 2),
        "by_columns": sum(stage.outer == "cols" for stage in linear) / some,
        "by_need": float(plan.scheduler == "need"),
        "deferred": float(plan.defer),
    }


def _banks(compiled: CompiledGraph) -> Iterator[frozenset[int]]:
    """The banks of each ring of the scratchpad."""
    rows = compiled.config.scratchpad_bank_rows
    for ring in compiled.plan.rings.values():
        if ring.space == "scratchpad":
            spans = (range(first // rows, -(-(first + n) // rows)) for first, n in ring.spans)
            yield frozenset(chain(*spans))
