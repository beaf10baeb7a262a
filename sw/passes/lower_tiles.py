"""A tile program to commands.

Assumes a verified tile program and the addresses of its tensors.  Guarantees commands whose
results are what `celosia.sw.ir.tile.interpret` says, scaled and activated as the problem asks.
"""

from collections.abc import Iterator

from celosia.isa.address import GARBAGE, LocalAddress
from celosia.isa.encoding import (
    COMPUTE_PRELOADED,
    CONFIG_DRAIN,
    CONFIG_EX,
    CONFIG_LD,
    CONFIG_ST,
    MVIN,
    MVIN2,
    MVIN_PARAM,
    MVOUT,
    PRELOAD,
    Command,
    float_bits,
)
from celosia.sw.ir.matmul import MatMulAddresses
from celosia.sw.ir.tile import Load, Multiply, Piece, Store, TileProgram

__all__ = ["lower_tiles"]

_RELU = 1


def lower_tiles(program: TileProgram, addresses: MatMulAddresses) -> tuple[Command, ...]:
    """The commands of `program`."""
    return tuple(_Lowering(program, addresses).commands())


class _Lowering:
    def __init__(self, program: TileProgram, addresses: MatMulAddresses):
        self.program, self.addresses = program, addresses
        self.problem, self.dim = program.problem, program.config.dim
        self.where: dict[Piece, int] = {}
        self.drain: Command | None = None

    def commands(self) -> Iterator[Command]:
        yield from self._configuration()
        for op in self.program.ops:
            match op:
                case Load():
                    yield self._load(op)
                case Multiply():
                    yield from self._multiply(op)
                case Store():
                    yield from self._store(op)

    def _configuration(self) -> Iterator[Command]:
        problem, pitches = self.problem, self.program.pitches
        yield CONFIG_EX.encode(a_unsigned=problem.a_unsigned, b_transpose=problem.b_transposed)
        yield CONFIG_LD.encode(set=0, stride=problem.k, block_stride=pitches["a"])
        yield CONFIG_LD.encode(set=1, stride=problem.b_shape[1], block_stride=pitches["b"])
        yield CONFIG_ST.encode(
            stride=problem.n * problem.c_bytes,
            scale=float_bits(1.0 if problem.scale is None else problem.scale),
            activation=_RELU if problem.relu else 0,
        )

    def _load(self, op: Load) -> Command:
        piece = op.piece
        self.where[piece] = op.at
        if piece.tensor == "bias":
            assert self.addresses.bias is not None
            return MVIN_PARAM.encode(
                dram=self.addresses.bias + 4 * piece.col, row=op.at, count=piece.cols
            )
        instruction, base, pitch = (
            (MVIN, self.addresses.a, self.problem.k)
            if piece.tensor == "a"
            else (MVIN2, self.addresses.b, self.problem.b_shape[1])
        )
        return instruction.encode(
            dram=base + piece.row * pitch + piece.col,
            local=op.at,
            local_cols=piece.cols,
            local_rows=piece.rows,
        )

    def _multiply(self, op: Multiply) -> Iterator[Command]:
        target = LocalAddress(row=op.at, accumulator=True, accumulate=op.k > 0)
        yield PRELOAD.encode(
            b=self.where[op.b] + self.program.b_row(op),
            b_cols=op.cols,
            b_rows=op.depth,
            c=target.encode(),
            c_cols=op.cols,
            c_rows=op.rows,
        )
        yield COMPUTE_PRELOADED.encode(
            a=self.where[op.a] + self.program.a_row(op), a_cols=op.depth, a_rows=op.rows, d=GARBAGE
        )

    def _store(self, op: Store) -> Iterator[Command]:
        problem = self.problem
        bias_row = self.where[op.bias] + (op.col - op.bias.col) // self.dim if op.bias else 0
        drain = CONFIG_DRAIN.encode(
            bias=op.bias is not None, bias_row=bias_row, block_stride=self.program.pitches["c"]
        )
        if drain != self.drain:
            self.drain = drain
            yield drain
        source = LocalAddress(row=op.at, accumulator=True, full=problem.scale is None)
        yield MVOUT.encode(
            dram=self.addresses.c + (op.row * problem.n + op.col) * problem.c_bytes,
            local=source.encode(),
            local_cols=op.cols,
            local_rows=op.rows,
        )
