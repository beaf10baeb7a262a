"""A tile program to commands.

Assumes a verified tile program and the addresses of its tensors.  Guarantees commands whose
results are what `celosia.sw.ir.tile.interpret` says, scaled and activated as the problem asks.
"""

from collections.abc import Iterable, Iterator

from celosia.isa.address import LocalAddress
from celosia.isa.encoding import (
    CONFIG_DRAIN,
    CONFIG_EX,
    CONFIG_LD,
    CONFIG_ST,
    MVIN,
    MVIN2,
    MVIN_PARAM,
    MVOUT,
    Command,
    float_bits,
)
from celosia.sw.ir.matmul import MatMulAddresses
from celosia.sw.ir.program import Multiply as LocalMultiply
from celosia.sw.ir.tile import Load, Multiply, Piece, Store, TileProgram
from celosia.sw.matmul.gather_products import gather_products
from celosia.sw.passes.encode_products import encode_nest, encode_product, knows_nests

__all__ = ["lower_tiles"]

_RELU = 1


def lower_tiles(
    program: TileProgram, addresses: MatMulAddresses, *, loops: bool = False
) -> tuple[Command, ...]:
    """The commands of `program`; with `loops`, nests of products are one each, if there is one."""
    return tuple(_Lowering(program, addresses, loops=loops).commands())


class _Lowering:
    def __init__(self, program: TileProgram, addresses: MatMulAddresses, *, loops: bool):
        self.program, self.addresses = program, addresses
        self.problem, self.dim = program.problem, program.config.dim
        self.where: dict[Piece, int] = {}
        self.drain: Command | None = None
        self.nests = loops and knows_nests(program.config)
        self.strides: Command | None = None

    def commands(self) -> Iterator[Command]:
        yield from self._configuration()
        products: list[Multiply] = []
        for op in self.program.ops:
            if isinstance(op, Multiply):
                products.append(op)
                continue
            yield from self._products(products)
            products.clear()
            if isinstance(op, Load):
                yield self._load(op)
            else:
                yield from self._store(op)
        yield from self._products(products)

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

    def _products(self, ops: Iterable[Multiply]) -> Iterator[Command]:
        tiles = [self._tile(op) for op in ops]
        if not self.nests:
            for tile in tiles:
                yield from encode_product(tile)
            return
        for nest in gather_products(tiles, self.dim):
            if nest.count == 1:
                yield from encode_product(*nest.each(self.dim))
                continue
            strides, command = encode_nest(nest)
            if strides != self.strides:
                self.strides = strides
                yield strides
            yield command

    def _tile(self, op: Multiply) -> LocalMultiply:
        """`op` on local rows."""
        return LocalMultiply(
            a=self.where[op.a] + self.program.a_row(op),
            w=self.where[op.b] + self.program.b_row(op),
            c=op.at,
            rows=op.rows,
            depth=op.depth,
            cols=op.cols,
            accumulate=op.k > 0,
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
