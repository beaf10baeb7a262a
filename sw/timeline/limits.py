"""The fewest cycles that any program could need for a graph on this array and this memory.

Nothing here depends on tiles or schedules: every operand crosses the bus at least once, every tile
of weights is held for at least as many cycles as rows of A meet it, and what neither can hide is
counted at both ends.  A run that is slower than its limit has lost cycles to control, latency,
dependencies or traffic; none can be faster.
"""

from dataclasses import dataclass
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.latencies import tile_cycles
from celosia.isa.memory import MemoryTiming
from celosia.sw.ir.causal import Seen, seen_products
from celosia.sw.ir.graph import Graph, MatMul, View

__all__ = ["COMPUTE", "READS", "WRITES", "Limit", "ceil", "graph_limit"]

COMPUTE: Final = "compute"
READS: Final = "reads"
WRITES: Final = "writes"


@dataclass(frozen=True, kw_only=True)
class Limit:
    """A lower bound of cycles, and its parts.

    The three resources work side by side; `ramp` comes on top of the slowest one.
    """

    compute: int
    """Cycles in which a row enters the array."""
    reads: int
    """Cycles of the read channel at full bandwidth."""
    writes: int
    """Cycles of the write channel at full bandwidth."""
    ramp: int
    """Cycles at both ends that the slowest resource cannot hide."""

    @property
    def cycles(self) -> int:
        """Cycles from the first command accepted to the last write response."""
        return max(self.compute, self.reads, self.writes) + self.ramp

    @property
    def bound(self) -> str:
        """The slowest resource: ``compute``, ``reads`` or ``writes``."""
        times = {COMPUTE: self.compute, READS: self.reads, WRITES: self.writes}
        return max(times, key=lambda name: times[name])


def graph_limit(graph: Graph, config: AcceleratorConfig, timing: MemoryTiming) -> Limit:
    """The limit of a graph as one program, with inputs and constants in memory before.

    * compute: that of all its products; everything else is hidden.  Of causal heads, tiles of keys
      that no row sees are left out, and rows that see none of a tile;
    * reads, writes: constants, inputs and what is read of caches come once, outputs and what is
      appended to caches leave once, nothing else does;
    * ramp: read latency, one row of the bus, and the latency of the write response.
    """
    dim, rate = config.dim, min(timing.bytes_per_cycle, config.bus_bytes)
    compute, seen = 0, seen_products(graph)
    for op in graph.ops:
        if isinstance(op, MatMul) and op.name in seen:
            compute += _seen_cycles(seen[op.name], dim)
        elif isinstance(op, MatMul):
            packing = graph.tensors[op.b.tensor].packing
            tile = tile_cycles(config, packing, transposed=op.b_transposed)
            full, rest = divmod(op.a.cols, dim)
            rows = full * max(op.out.rows, tile)
            rows += bool(rest) * max(op.out.rows, min(rest, tile))
            compute += ceil(op.out.cols, dim) * rows
    caches = {name for name in graph.inputs if graph.tensors[name].cache}
    given = {*graph.constants, *graph.inputs} - caches
    views = {view for op in graph.ops for view in op.operands if view.tensor in caches}
    reads, writes = (
        ceil(sum(graph.tensors[name].bytes for name in names) + sum(map(_bytes, views)), rate)
        for names, views in ((given, views), (graph.outputs, graph.appended))
    )
    return Limit(compute=compute, reads=reads, writes=writes, ramp=2 * timing.latency + 1)


def _seen_cycles(product: Seen, dim: int) -> int:
    """Cycles in which rows of a product of a causal head enter the array."""
    cycles = 0
    for rows, keys in product.tiles(dim):
        if product.along:
            cycles += ceil(product.op.out.cols, dim) * max(rows, keys) * bool(rows)
        elif rows:
            full, rest = divmod(product.op.a.cols, dim)
            cycles += full * max(rows, dim) + bool(rest) * max(rows, rest)
    return cycles


def _bytes(view: View) -> int:
    """Bytes of a part of a cache, which is of int8."""
    return view.rows * view.cols


def ceil(a: int, b: int) -> int:
    """The quotient, rounded up."""
    return -(-a // b)
