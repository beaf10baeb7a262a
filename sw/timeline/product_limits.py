"""The fewest cycles of a product alone, and of products one after the other."""

from collections.abc import Iterable

from celosia.isa.config import ACC_BYTES, AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sw.ir.matmul import MatMul
from celosia.sw.timeline.limits import COMPUTE, READS, WRITES, Limit, ceil

__all__ = ["matmul_limit", "total_limit"]


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
    col_tiles = ceil(problem.n, dim)
    last_cols = problem.n - (col_tiles - 1) * dim

    compute = col_tiles * sum(max(problem.m, depth) for depth in depths)
    reads = ceil(_read_bytes(problem), rate)
    writes = ceil(problem.m * problem.n * problem.c_bytes, rate)

    first = ceil(depths[0] * min(problem.n, dim) + depths[0], rate)
    through = dim + last_cols - 2
    last = ceil(last_cols * problem.c_bytes, rate)
    latencies = 2 * timing.latency
    cycles = latencies + max(
        first + compute + through + last, reads + last, first + through + writes
    )
    return Limit(
        compute=compute, reads=reads, writes=writes, ramp=cycles - max(compute, reads, writes)
    )


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
