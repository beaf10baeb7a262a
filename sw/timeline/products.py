"""The expected cycles of a product in tiles."""

from typing import Final

from celosia.isa.config import ACC_BYTES
from celosia.isa.memory import MemoryTiming
from celosia.sw.ir.matmul import MatMulAddresses
from celosia.sw.ir.tile import Load, Multiply, Piece, Store, TileProgram
from celosia.sw.timeline.follow import Moved, Timeline
from celosia.sw.timeline.local import Rows

__all__ = ["follow_tiles"]

_CONFIGURATION: Final = 4
"""The number of configuring commands before all others."""


def follow_tiles(
    program: TileProgram, addresses: MatMulAddresses, timing: MemoryTiming | None = None
) -> Timeline:
    """The timeline of a well-formed `program` whose tensors are at `addresses`."""
    return _TileFollower(program, addresses, timing).follow()


class _TileFollower:
    def __init__(
        self, program: TileProgram, addresses: MatMulAddresses, timing: MemoryTiming | None
    ):
        self.program, self.problem = program, program.problem
        self.line = Timeline(program.config, timing)
        self.dim = program.config.dim
        problem = self.problem
        self.pitches = {"a": problem.k, "b": problem.b_shape[1], "bias": ACC_BYTES * problem.n}
        self.starts = {"a": addresses.a, "b": addresses.b, "bias": addresses.bias or 0}
        self.c = addresses.c
        self.where: dict[Piece, int] = {}
        self.bias: Rows | None = None
        """The parameter rows that hold the bias of the store before; None: it has none."""

    def follow(self) -> Timeline:
        self.line.configure(_CONFIGURATION)
        for op in self.program.ops:
            match op:
                case Load():
                    self._load(op)
                case Multiply():
                    self._multiply(op)
                case Store():
                    self._store(op)
        return self.line

    def _load(self, op: Load) -> None:
        piece = op.piece
        self.where[piece] = op.at
        bias = piece.tensor == "bias"
        size, pitch = ACC_BYTES if bias else 1, self.pitches[piece.tensor]
        address = self.starts[piece.tensor] + piece.row * pitch + piece.col * size
        self.line.load(
            self.line.parameters if bias else self.line.scratchpad,
            (op.at, op.at + self.program.span(piece)),
            Moved(piece.rows, piece.cols * size, pitch, address),
        )

    def _multiply(self, op: Multiply) -> None:
        self.line.product(
            self.where[op.a] + self.program.a_row(op),
            self.where[op.b] + self.program.b_row(op),
            op.at,
            op.rows,
            transposed=self.problem.b_transposed,
            accumulate=op.k > 0,
        )

    def _store(self, op: Store) -> None:
        problem, blocks = self.problem, -(-op.cols // self.dim)
        size, pitch = problem.c_bytes, problem.n * problem.c_bytes
        bias = None
        if op.bias:
            first = self.where[op.bias] + (op.col - op.bias.col) // self.dim
            bias = (first, first + blocks)
        self.line.store(
            self.line.accumulator,
            (op.at, op.at + (blocks - 1) * self.program.pitches["c"] + op.rows),
            Moved(op.rows, op.cols * size, pitch, self.c + op.row * pitch + op.col * size),
            op.rows * -(-op.cols * size // self.dim),
            parameters=bias,
            commands=1 + (bias != self.bias),
        )
        self.bias = bias
