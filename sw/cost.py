"""Cycles and bytes of a scheduled product, by formulas: what scheduling decisions compare.

A product is a sequence of blocks of C.  A block takes as long as the slowest of three: the array,
its loads, its stores; the blocks before and after it overlap with it in the other two.  Before the
first block, the first operands come in; after the last, its last tiles leave.  Bank conflicts,
hazards and refused commands are not modeled.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.sw.driver.device import MemoryTiming
from celosia.sw.ir.matmul import MatMul
from celosia.sw.ir.schedule import MatMulSchedule

__all__ = ["Prediction", "cut", "predict_matmul", "product_cycles"]

MIN_PRODUCT_CYCLES: Final = 4
"""Two commands at two cycles each."""
START_CYCLES: Final = 30
"""From the first command to the first read address, and from the last byte to the first row."""
END_CYCLES: Final = 30
"""From a result in the accumulator to its first byte on the bus, and other ends of pipelines."""
REQUEST_CYCLES: Final = 8
"""How long a request is in flight beyond the memory's latency and its own transfer."""


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """What a product is expected to cost."""

    cycles: int
    array_cycles: int
    """Cycles in which the array takes rows, or weights of short products."""
    start_cycles: int
    """Before the first product."""
    end_cycles: int
    """After the last product."""
    read_bytes: int
    write_bytes: int


def cut(extent: int, step: int) -> list[int]:
    """Sizes of the pieces of `extent`; only the last may be short."""
    return [min(step, extent - start) for start in range(0, extent, step)]


def product_cycles(rows: int, config: AcceleratorConfig) -> int:
    """Cycles of the array for `rows` rows through one tile of weights."""
    return max(rows, config.dim, MIN_PRODUCT_CYCLES)


def predict_matmul(
    problem: MatMul,
    config: AcceleratorConfig,
    schedule: MatMulSchedule,
    timing: MemoryTiming | None = None,
) -> Prediction:
    """The expected cost of `problem` under `schedule`."""
    return _Model(problem, config, schedule, timing or MemoryTiming()).predict()


@dataclass(frozen=True)
class _Move:
    """Bytes, and the cycles in which the bus moves them."""

    bytes: int = 0
    cycles: float = 0.0

    def __add__(self, other: "_Move") -> "_Move":
        return _Move(self.bytes + other.bytes, self.cycles + other.cycles)

    def __mul__(self, count: int) -> "_Move":
        return _Move(self.bytes * count, self.cycles * count)


class _Model:
    def __init__(
        self,
        problem: MatMul,
        config: AcceleratorConfig,
        schedule: MatMulSchedule,
        timing: MemoryTiming,
    ):
        self.problem, self.config, self.schedule, self.timing = problem, config, schedule, timing
        self.k_tiles = -(-problem.k // config.dim)
        self.rate = min(config.bus_bytes, timing.bytes_per_cycle)

    def predict(self) -> Prediction:
        """Sum over kinds of blocks, which are few."""
        total, array, moved = 0.0, 0, _Move()
        for m, m_count, first_m in _kinds(self.schedule.rows):
            for n, n_count, first_n in _kinds(self.schedule.cols):
                work = product_cycles(m, self.config) * n * self.k_tiles
                load = self._load(m, n, first_m, first_n)
                store = self._store(m, n).cycles
                total += m_count * n_count * max(work, load.cycles, store)
                array += m_count * n_count * work
                moved += load * (m_count * n_count)
        start, end = round(self._start()), round(self._end())
        return Prediction(
            cycles=round(total) + start + end,
            array_cycles=array,
            start_cycles=start,
            end_cycles=end,
            read_bytes=moved.bytes,
            write_bytes=self.problem.m * self.problem.n * self.problem.c_bytes,
        )

    def _load(self, m: int, n: int, first_m: bool, first_n: bool) -> _Move:
        """What comes in for a block."""
        load = _Move()
        if first_n or not self.schedule.keep_a:
            load += self._rows(m, self.problem.k, self.schedule.a_tiles)
        if first_m or not self.schedule.keep_b:
            load += self._b(n)
        if self.problem.bias:
            load += self._bias(n) if first_m or self.schedule.bias_slots < 2 else _Move()
        return load

    def _rows(self, rows: int, cols: int, tiles: int) -> _Move:
        """`rows` rows of `cols` bytes, in pieces of `tiles` tiles."""
        pieces = cut(cols, tiles * self.config.dim)
        return _Move(rows * cols, rows * sum(self._request(piece, cols) for piece in pieces))

    def _request(self, size: int, pitch: int) -> float:
        """Cycles per read of `size` bytes, many in flight, in rows that are `pitch` bytes apart."""
        bus = self.config.bus_bytes
        unaligned = bus if pitch % bus and pitch != size else 0
        transfer = (-(-size // bus) * bus + unaligned) / self.rate
        flight = self.timing.latency + REQUEST_CYCLES + transfer
        return max(transfer, flight / self.config.read_requests)

    def _b(self, n: int) -> _Move:
        """A block of columns of B, of `n` tiles."""
        schedule, columns = self.schedule, min(n * self.config.dim, self.problem.n)
        if self.problem.b_transposed:
            return self._rows(columns, self.problem.k, schedule.b_k_tiles)
        return self._rows(self.problem.k, columns, schedule.b_n_tiles)

    def _bias(self, n: int) -> _Move:
        return self._rows(1, 4 * n * self.config.dim, n)

    def _store(self, m: int, n: int) -> _Move:
        """The accumulator gives a row per cycle; the bus may be slower."""
        size = self.config.dim * self.problem.c_bytes
        return _Move(m * n * size, m * n * max(1.0, size / self.rate))

    def _start(self) -> float:
        """The first pieces of A and B, the first weights, and what the array then waits for."""
        schedule, dim = self.schedule, self.config.dim
        weights = 2 * dim if self.problem.b_transposed else dim
        first = START_CYCLES + self.timing.latency + weights
        first += self._first_a(schedule.first_a_tiles).cycles + self._first_b().cycles
        rest = schedule.a_tiles - schedule.first_a_tiles
        if not rest:
            return first
        work = product_cycles(schedule.rows[0], self.config) * schedule.cols[0]
        pieces = -(-schedule.cols[0] // schedule.b_n_tiles)
        return first + max(0.0, self._first_a(rest).cycles + self._first_b().cycles * pieces - work)

    def _first_a(self, tiles: int) -> _Move:
        cols = min(self.problem.k, tiles * self.config.dim)
        return _Move(0, self.schedule.rows[0] * self._request(cols, self.problem.k))

    def _first_b(self) -> _Move:
        schedule, problem, dim = self.schedule, self.problem, self.config.dim
        k = min(problem.k, schedule.b_k_tiles * dim)
        n = min(problem.n, min(schedule.b_n_tiles, schedule.cols[0]) * dim)
        rows, cols = (n, k) if problem.b_transposed else (k, n)
        return _Move(0, rows * self._request(cols, problem.b_shape[1]))

    def _end(self) -> float:
        """The last row through the array, and the last tiles out."""
        schedule = self.schedule
        rows, tiles = schedule.rows[-1], schedule.cols[-1]
        parts = schedule.tail or (tiles,)
        last = min(parts[-1], schedule.store_tiles)
        all_stores, last_store = self._store(rows, tiles).cycles, self._store(rows, last).cycles
        covered = rows * ((tiles - last) if len(parts) == 1 else last * self.k_tiles)
        drain = max(last_store, all_stores - covered)
        pipeline = 2 * self.config.dim + END_CYCLES + self.timing.latency
        return pipeline + drain + (self._late_tail() if len(parts) > 1 else 0.0)

    def _late_tail(self) -> float:
        """What the last part costs beyond its block if loads, not the array, set the pace."""
        rows, tiles = self.schedule.rows, self.schedule.cols
        load = self._load(rows[-1], tiles[-1], len(rows) == 1, len(tiles) == 1).cycles
        work = product_cycles(rows[-1], self.config) * tiles[-1] * self.k_tiles
        last_part = work * self.schedule.tail[-1] / tiles[-1]
        return max(work, load + last_part) - max(work, load)


def _kinds(sizes: Sequence[int]) -> Iterator[tuple[int, int, bool]]:
    """Size, count and whether it is the first one, for blocks that cost the same."""
    yield sizes[0], 1, True
    for size, count in Counter(sizes[1:]).items():
        yield size, count, False
