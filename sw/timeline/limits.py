"""The fewest cycles that any program could need for a product on this array and this memory.

Nothing here depends on tiles or schedules: every operand crosses the bus at least once, every tile
of weights is held for at least as many cycles as rows of A meet it, and what neither can hide is
counted at both ends.  A run that is slower than its limit has lost cycles to control, latency,
dependencies or traffic; none can be faster.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from celosia.isa.config import ACC_BYTES, AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sw.ir.causal import Seen, seen_products
from celosia.sw.ir.graph import Graph, View
from celosia.sw.ir.graph import MatMul as GraphProduct
from celosia.sw.ir.matmul import MatMul

__all__ = ["Limit", "graph_limit", "matmul_limit", "total_limit"]

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


def matmul_limit(problem: MatMul, config: AcceleratorConfig, timing: MemoryTiming) -> Limit:
    """The limit of one product alone, with A, B and the bias in memory before and C after it.

    * compute: weights stay for one wave of rows, so a tile of weights with `depth` rows costs
      ``max(m, depth)`` cycles;
    * reads, writes: each operand once, at the narrower of memory and bus;
    * ramp: read latency, the first tile of weights and row of A, the way of the last row through
      the array, its write, and the latency of the write response.  A product that is bound by reads
      hides the first tile, one that is bound by writes also the last row.

    Back-pressure (`stall_percent`) is not part of the limit.
    """
    dim, rate = config.dim, min(timing.bytes_per_cycle, config.bus_bytes)
    full, rest = divmod(problem.k, dim)
    depths = [dim] * full + [rest] * bool(rest)
    col_tiles = _ceil(problem.n, dim)
    last_cols = problem.n - (col_tiles - 1) * dim

    compute = col_tiles * sum(max(problem.m, depth) for depth in depths)
    reads = _ceil(_read_bytes(problem), rate)
    writes = _ceil(problem.m * problem.n * problem.c_bytes, rate)

    first = _ceil(depths[0] * min(problem.n, dim) + depths[0], rate)
    through = dim + last_cols - 2
    last = _ceil(last_cols * problem.c_bytes, rate)
    latencies = 2 * timing.latency
    cycles = latencies + max(
        first + compute + through + last, reads + last, first + through + writes
    )
    return Limit(
        compute=compute, reads=reads, writes=writes, ramp=cycles - max(compute, reads, writes)
    )


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
        if isinstance(op, GraphProduct) and op.name in seen:
            compute += _seen_cycles(seen[op.name], dim)
        elif isinstance(op, GraphProduct):
            full, rest = divmod(op.a.cols, dim)
            rows = full * max(op.out.rows, dim) + bool(rest) * max(op.out.rows, rest)
            compute += _ceil(op.out.cols, dim) * rows
    caches = {name for name in graph.inputs if graph.tensors[name].cache}
    given = {*graph.constants, *graph.inputs} - caches
    views = {view for op in graph.ops for view in op.operands if view.tensor in caches}
    reads, writes = (
        _ceil(sum(graph.tensors[name].bytes for name in names) + sum(map(_bytes, views)), rate)
        for names, views in ((given, views), (graph.outputs, graph.appended))
    )
    return Limit(compute=compute, reads=reads, writes=writes, ramp=2 * timing.latency + 1)


def _seen_cycles(product: Seen, dim: int) -> int:
    """Cycles in which rows of a product of a causal head enter the array."""
    cycles = 0
    for rows, keys in product.tiles(dim):
        if product.along:
            cycles += _ceil(product.op.out.cols, dim) * max(rows, keys) * bool(rows)
        elif rows:
            full, rest = divmod(product.op.a.cols, dim)
            cycles += full * max(rows, dim) + bool(rest) * max(rows, rest)
    return cycles


def _bytes(view: View) -> int:
    """Bytes of a part of a cache, which is of int8."""
    return view.rows * view.cols


def total_limit(limits: Iterable[Limit]) -> Limit:
    """The limit of products that run one after the other, without overlap.

    Which resource is slowest may differ from one to the next; what is more than the sum of the
    slowest is ramp.
    """
    parts = list(limits)
    compute, reads, writes = (
        sum(getattr(part, name) for part in parts) for name in (COMPUTE, READS, WRITES)
    )
    cycles = sum(part.cycles for part in parts)
    return Limit(
        compute=compute, reads=reads, writes=writes, ramp=cycles - max(compute, reads, writes)
    )


def _read_bytes(problem: MatMul) -> int:
    operands = problem.m * problem.k + problem.k * problem.n
    return operands + (ACC_BYTES * problem.n if problem.bias else 0)


def _ceil(a: int, b: int) -> int:
    return -(-a // b)
