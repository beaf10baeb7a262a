"""Tile IR: which pieces move where and which tiles are multiplied, in order.

Operands are rectangles of named tensors, in elements; local rows are the only addresses.  `verify`
states what makes a program well formed and `interpret` what it means: a pass is right when both
survive it.  A piece is where its latest `Load` has put it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from celosia.isa.config import AcceleratorConfig
from celosia.sw.ir.matmul import MatMul

__all__ = [
    "Block",
    "Load",
    "Multiply",
    "Op",
    "Piece",
    "Store",
    "TileProgram",
    "interpret",
    "verify",
]


@dataclass(frozen=True, slots=True)
class Piece:
    """A rectangle of a tensor in memory that moves as one.

    In local memory, its columns are cut into blocks of dim, which stand below each other.
    """

    tensor: str
    """``a``, ``b`` (as it stands in memory) or ``bias`` (one row)."""
    row: int
    col: int
    rows: int
    cols: int

    def __str__(self) -> str:
        rows, cols = f"{self.row}:{self.row + self.rows}", f"{self.col}:{self.col + self.cols}"
        return f"{self.tensor}[{rows}, {cols}]"


@dataclass(frozen=True, slots=True)
class Load:
    """Move `piece` to local row `at` (a parameter row for a bias)."""

    piece: Piece
    at: int

    def __str__(self) -> str:
        return f"load {self.piece} to {self.at}"


@dataclass(frozen=True, slots=True)
class Multiply:
    """``C[rows, cols] (+)= A[rows, k : k + depth] @ B[k : k + depth, cols]``; adds if k > 0."""

    row: int
    rows: int
    col: int
    cols: int
    k: int
    depth: int
    a: Piece
    b: Piece
    at: int
    """Accumulator row of the tile of C."""

    def __str__(self) -> str:
        rows, cols = f"{self.row}:{self.row + self.rows}", f"{self.col}:{self.col + self.cols}"
        sign = "+=" if self.k else "="
        return (
            f"c[{rows}, {cols}]@{self.at} {sign} k {self.k}:{self.k + self.depth} {self.a} {self.b}"
        )


@dataclass(frozen=True, slots=True)
class Store:
    """Move tiles of C that stand below each other out to memory."""

    row: int
    rows: int
    col: int
    cols: int
    at: int
    """Accumulator row of the first tile."""
    bias: Piece | None = None

    def __str__(self) -> str:
        rows, cols = f"{self.row}:{self.row + self.rows}", f"{self.col}:{self.col + self.cols}"
        return f"store c[{rows}, {cols}]@{self.at}" + (f" + {self.bias}" if self.bias else "")


Op = Load | Multiply | Store

Block = tuple[Multiply | Store, ...]
"""All operations of one block of C, before loads are placed."""


@dataclass(frozen=True)
class TileProgram:
    """A product in tiles."""

    problem: MatMul
    config: AcceleratorConfig
    ops: tuple[Op, ...]
    pitches: Mapping[str, int] = field(default_factory=dict)
    """Local rows from one block of columns to the next, for tensors ``a``, ``b`` and ``c``."""

    def __str__(self) -> str:
        return "".join(f"{op}\n" for op in self.ops)

    def span(self, piece: Piece) -> int:
        """Local rows that `piece` occupies, from its first to its last."""
        blocks = -(-piece.cols // self.config.dim)
        return (
            blocks
            if piece.tensor == "bias"
            else (blocks - 1) * self.pitches[piece.tensor] + piece.rows
        )

    def a_row(self, op: Multiply) -> int:
        """Row of the tile of A of `op`, counted from the start of its piece."""
        return (op.k - op.a.col) // self.config.dim * self.pitches["a"]

    def b_row(self, op: Multiply) -> int:
        """Row of the tile of B of `op`, counted from the start of its piece."""
        across, down = (op.k, op.col) if self.problem.b_transposed else (op.col, op.k)
        return (across - op.b.col) // self.config.dim * self.pitches["b"] + down - op.b.row


def verify(program: TileProgram) -> TileProgram:
    """Return `program` if it is well formed; raise `ValueError` that names the operation otherwise.

    Pieces are in place and intact when they are used; every tile of C is accumulated over all of K
    in order, in rows that nothing else uses meanwhile; every element of C is stored once.
    """
    checker = _Checker(program)
    for index, op in enumerate(program.ops):
        try:
            checker.take(op)
        except ValueError as error:
            raise ValueError(f"op {index}: {op}: {error}") from None
    if checker.stored != program.problem.m * program.problem.n:
        raise ValueError(f"{checker.stored} elements of C are stored, not all of them")
    return program


class _Checker:
    """The state of local rows while the verifier takes operations: what each row holds."""

    def __init__(self, program: TileProgram):
        config = program.config
        self.program = program
        self.scratchpad = np.zeros(config.scratchpad_rows, np.int64)
        self.parameters = np.zeros(config.parameter_rows, np.int64)
        self.serial = 0
        self.loaded: dict[Piece, tuple[int, int]] = {}
        """First row and serial number of each piece's latest load."""
        self.sums: dict[int, tuple[int, int, int, int, int]] = {}
        """The tile of C that is being accumulated at an accumulator row, and how far, by that row.
        """
        self.accumulator = np.full(config.accumulator_rows, -1, np.int64)
        self.stored = 0

    def take(self, op: Op) -> None:
        match op:
            case Load():
                self._load(op)
            case Multiply():
                self._use(op.a)
                self._use(op.b)
                self._multiply(op)
            case Store():
                if op.bias:
                    self._use(op.bias)
                self._store(op)

    def _memory(self, piece: Piece) -> np.ndarray:
        return self.parameters if piece.tensor == "bias" else self.scratchpad

    def _load(self, op: Load) -> None:
        owners, end = self._memory(op.piece), op.at + self.program.span(op.piece)
        if not 0 <= op.at < end <= len(owners):
            raise ValueError(f"rows {op.at}..{end - 1} are not in 0..{len(owners) - 1}")
        self.serial += 1
        owners[op.at : end] = self.serial
        self.loaded[op.piece] = (op.at, self.serial)

    def _use(self, piece: Piece) -> None:
        if piece not in self.loaded:
            raise ValueError(f"{piece} has not been loaded")
        at, serial = self.loaded[piece]
        if (self._memory(piece)[at : at + self.program.span(piece)] != serial).any():
            raise ValueError(f"{piece} has been overwritten")

    def _multiply(self, op: Multiply) -> None:
        program = self.program
        if not 0 <= program.a_row(op) <= program.span(op.a) - op.rows or op.a.row != op.row:
            raise ValueError(f"{op.a} does not hold its tile of A")
        length = op.cols if program.problem.b_transposed else op.depth
        if not 0 <= program.b_row(op) <= program.span(op.b) - length:
            raise ValueError(f"{op.b} does not hold its tile of B")
        if not 0 <= op.at <= len(self.accumulator) - op.rows:
            raise ValueError(f"rows {op.at}..{op.at + op.rows - 1} are not in the accumulator")
        tile, owners = (op.row, op.rows, op.col, op.cols), self.accumulator[op.at : op.at + op.rows]
        if op.k == 0:
            if (owners != -1).any():
                raise ValueError("overwrites a tile that has not been stored")
            owners[:] = op.at
        elif self.sums.get(op.at) != (*tile, op.k):
            raise ValueError("does not continue the sum in its accumulator rows")
        self.sums[op.at] = (*tile, op.k + op.depth)

    def _store(self, op: Store) -> None:
        for index, col in enumerate(range(0, op.cols, self.program.config.dim)):
            at = op.at + index * self.program.pitches["c"]
            tile = (op.row, op.rows, op.col + col, min(self.program.config.dim, op.cols - col))
            if self.sums.pop(at, None) != (*tile, self.program.problem.k):
                raise ValueError(f"accumulator row {at} does not hold the finished tile")
            self.accumulator[at : at + op.rows] = -1
        self.stored += op.rows * op.cols


def interpret(program: TileProgram, tensors: Mapping[str, np.ndarray]) -> np.ndarray:
    """The int32 sums, bias included, that a well-formed `program` stores.

    `tensors` has ``a``, ``b`` as it stands in memory and, if there is a bias, ``bias`` (one row).
    """
    problem, dim = program.problem, program.config.dim
    b = tensors["b"].T if problem.b_transposed else tensors["b"]
    result = np.zeros((problem.m, problem.n), np.int32)
    sums: dict[int, np.ndarray] = {}
    for op in program.ops:
        match op:
            case Multiply():
                left = tensors["a"][op.row : op.row + op.rows, op.k : op.k + op.depth]
                right = b[op.k : op.k + op.depth, op.col : op.col + op.cols]
                product = left.astype(np.int32) @ right.astype(np.int32)
                sums[op.at] = sums[op.at] + product if op.k else product
            case Store():
                tiles = [sums[op.at + i * program.pitches["c"]] for i in range(-(-op.cols // dim))]
                out = np.concatenate(tiles, axis=1)
                if op.bias:
                    out = out + tensors["bias"][:, op.col : op.col + op.cols]
                result[op.row : op.row + op.rows, op.col : op.col + op.cols] = out
            case Load():
                pass
    return result
