"""Bytes and bus cycles of what a scheduled product moves.

The bus moves whole beats, so rows that begin inside a beat cost more; bursts of few bytes are
bound by how many may be in flight.
"""

from dataclasses import dataclass
from math import gcd
from typing import Final

from celosia.isa.config import ACC_BYTES, MAX_REQUEST_BYTES, AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sw.ir.matmul import MatMul
from celosia.sw.ir.schedule import MatMulSchedule

__all__ = ["Move", "Traffic", "cut"]

REQUEST_CYCLES: Final = 2
"""How long a burst is in flight beyond the memory's latency."""


def cut(extent: int, step: int) -> list[int]:
    """Sizes of the pieces of `extent`; only the last may be short."""
    return [min(step, extent - start) for start in range(0, extent, step)]


@dataclass(frozen=True)
class Move:
    """Bytes, the cycles in which the bus moves them, and in how many pieces they move."""

    bytes: int = 0
    cycles: float = 0.0
    pieces: int = 0

    def __add__(self, other: "Move") -> "Move":
        return Move(
            self.bytes + other.bytes, self.cycles + other.cycles, self.pieces + other.pieces
        )


@dataclass(frozen=True)
class Traffic:
    """What moves for parts of `problem` under `schedule`."""

    problem: MatMul
    config: AcceleratorConfig
    schedule: MatMulSchedule
    timing: MemoryTiming

    def a(self, rows: int) -> Move:
        """`rows` rows of A."""
        size = self.schedule.a_tiles * self.config.dim
        return self._pieces(rows, rows, self.problem.k, size)

    def b(self, columns: int) -> Move:
        """`columns` columns of B."""
        problem, schedule, dim = self.problem, self.schedule, self.config.dim
        down, across = schedule.b_k_tiles * dim, schedule.b_n_tiles * dim
        if problem.b_transposed:
            return self._pieces(columns, across, problem.k, down)
        return self._pieces(problem.k, down, columns, across)

    def bias(self, columns: int) -> Move:
        """The bias of `columns` columns."""
        size = ACC_BYTES * columns
        cycles = sum(self._burst(burst, size) for burst in cut(size, MAX_REQUEST_BYTES))
        return Move(size, cycles, 1)

    def store_cycles(self, rows: int, columns: int) -> float:
        """Cycles in which `columns` columns of C leave: the accumulator gives a row per cycle."""
        problem, dim, cycles = self.problem, self.config.dim, 0.0
        pitch = problem.n * problem.c_bytes
        for group in cut(columns, self.schedule.store_tiles * dim):
            bus = sum(
                self._burst(b, pitch) for b in cut(group * problem.c_bytes, MAX_REQUEST_BYTES)
            )
            cycles += rows * max(float(-(-group // dim)), bus)
        return cycles

    def first_a_cycles(self, tiles: int) -> float:
        """Cycles of a piece of A of `tiles` tiles in the first row block."""
        columns = min(self.problem.k, tiles * self.config.dim)
        return self.schedule.rows[0] * self._burst(columns, self.problem.k)

    def first_b_cycles(self) -> float:
        """Cycles of the first piece of B."""
        schedule, problem, dim = self.schedule, self.problem, self.config.dim
        k = min(problem.k, schedule.b_k_tiles * dim)
        n = min(problem.n, min(schedule.b_n_tiles, schedule.cols[0]) * dim)
        rows, cols = (n, k) if problem.b_transposed else (k, n)
        return rows * self._burst(cols, problem.b_shape[1])

    def _pieces(self, rows: int, piece_rows: int, cols: int, piece_cols: int) -> Move:
        pitch = self.problem.k if piece_rows == rows else self.problem.b_shape[1]
        pieces = cut(cols, piece_cols)
        cycles = rows * sum(self._burst(piece, pitch) for piece in pieces)
        return Move(rows * cols, cycles, len(pieces) * -(-rows // piece_rows))

    def _burst(self, size: int, pitch: int) -> float:
        """Cycles per burst of `size` bytes, many in flight, in rows `pitch` bytes apart."""
        bus = self.config.bus_bytes
        step = gcd(pitch, bus)
        beats = max(1.0, (size + bus - step) / bus)
        if step == bus:
            beats = float(-(-size // bus))
        transfer = beats * bus / min(bus, self.timing.bytes_per_cycle)
        flight = self.timing.latency + REQUEST_CYCLES
        return max(transfer, flight / self.config.read_requests)
