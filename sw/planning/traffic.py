"""Bytes and bus cycles of what a product moves.

The bus moves whole beats, so rows that begin inside a beat cost more; bursts of few bytes are
bound by how many may be in flight.
"""

from dataclasses import dataclass
from math import gcd
from typing import Final

from celosia.isa.config import ACC_BYTES, MAX_REQUEST_BYTES, AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sw.ir.graph import Graph, MatMul, View
from celosia.sw.planning.extents import full_sizes
from celosia.sw.planning.forms.stages import LinearStage

__all__ = ["Bursts", "Move", "Traffic"]

REQUEST_CYCLES: Final = 2
"""How long a burst is in flight beyond the memory's latency."""


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
class Bursts:
    """Bursts of the product `op` of `graph`, whatever its plan."""

    op: MatMul
    graph: Graph
    config: AcceleratorConfig
    timing: MemoryTiming

    def bias(self, columns: int) -> Move:
        """The bias of `columns` columns."""
        size = ACC_BYTES * columns
        cycles = sum(self._burst(burst, size) for burst in full_sizes(size, MAX_REQUEST_BYTES))
        return Move(size, cycles, 1)

    def store_cycles(self, rows: int, columns: int, together: int) -> float:
        """Cycles in which `columns` columns of C leave, `together` tiles at once.

        The accumulator gives a row per cycle.
        """
        out, dim, cycles = self.graph.tensors[self.op.out.tensor], self.config.dim, 0.0
        for group in full_sizes(columns, together * dim):
            parts = full_sizes(group * out.element_bytes, MAX_REQUEST_BYTES)
            bus = sum(self._burst(part, out.row_bytes) for part in parts)
            cycles += rows * max(float(-(-group // dim)), bus)
        return cycles

    def burst(self, view: View, columns: int) -> float:
        """Cycles of `columns` elements of a row of an operand in memory, among many such bursts."""
        tensor = self.graph.tensors[view.tensor]
        return self._burst(columns * tensor.element_bytes, tensor.row_bytes)

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


@dataclass(frozen=True)
class Traffic(Bursts):
    """What moves for parts of a product that is computed as `stage` says."""

    stage: LinearStage

    def a(self, rows: int) -> Move:
        """`rows` rows of A."""
        size = self.stage.a.tiles * self.config.dim
        return self._pieces(self.op.a, (rows, rows), (self.op.a.cols, size))

    def b(self, columns: int) -> Move:
        """`columns` columns of B."""
        op, dim = self.op, self.config.dim
        k, n = (op.a.cols, self.stage.w.k_tiles * dim), (columns, self.stage.w.columns * dim)
        return self._pieces(op.b, *((n, k) if op.b_transposed else (k, n)))

    def first_a_cycles(self, tiles: int) -> float:
        """Cycles of a piece of A of `tiles` tiles in the first row block."""
        columns = min(self.op.a.cols, tiles * self.config.dim)
        return self.stage.rows[0] * self.burst(self.op.a, columns)

    def first_b_cycles(self) -> float:
        """Cycles of the first piece of B."""
        stage, op, dim = self.stage, self.op, self.config.dim
        k = min(op.a.cols, stage.w.k_tiles * dim)
        n = min(op.out.cols, min(stage.w.columns, stage.tiles[0]) * dim)
        rows, cols = (n, k) if op.b_transposed else (k, n)
        rows = self.graph.tensors[op.b.tensor].rows_of(rows)
        return rows * self.burst(op.b, cols)

    def _pieces(self, view: View, rows: tuple[int, int], cols: tuple[int, int]) -> Move:
        """Elements of bytes in rows and columns, each with the extent of a piece."""
        pieces = full_sizes(*cols)
        bursts = self.graph.tensors[view.tensor].rows_of(rows[0])
        cycles = bursts * sum(self.burst(view, piece) for piece in pieces)
        return Move(bursts * cols[0], cycles, len(pieces) * -(-rows[0] // rows[1]))
