"""Moves of a matrix of tiles between memory and local memory, as many tiles as fit in each."""

from typing import NamedTuple

from amaranth import Module, Mux, Signal, Value

from celosia.hw.gemmini.loops.tiles import (
    ADDRESS_BITS,
    LOCAL_BITS,
    SIZE_BITS,
    command_of,
    tile_word,
)
from celosia.isa.config import ACC_BYTES, AcceleratorConfig
from celosia.isa.encoding import FUNCT_BITS, Funct

__all__ = ["Matrix", "Moves"]

_WIDE_SHIFT = (ACC_BYTES - 1).bit_length()


class Matrix(NamedTuple):
    """Tiles in memory, row by row in local memory."""

    funct: Funct
    dram: Value
    stride: Value
    """Elements from one row of the matrix to the next."""
    local: Value
    wide: Value
    """Elements are int32 in memory."""
    rows: Value
    """Rows of tiles."""
    cols: Value
    """Columns of tiles."""
    pad_rows: Value
    pad_cols: Value


class Moves:
    """One matrix, and how far it has come."""

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        self.wide = Signal(name="move_wide", reset_less=True)
        self.dram, self._line, self._line_bytes = (
            Signal(ADDRESS_BITS, name=name, reset_less=True)
            for name in ("move_dram", "move_line", "move_line_bytes")
        )
        self.local = Signal(LOCAL_BITS, name="move_local", reset_less=True)
        self.funct = Signal(FUNCT_BITS, name="move_funct", reset_less=True)
        # Tiles that are left, with those of the next move.
        self.rows, self.cols, self._all_cols, self._pad_rows, self._pad_cols = (
            Signal(SIZE_BITS, name=f"move_{name}", reset_less=True)
            for name in ("rows", "cols", "all_cols", "pad_rows", "pad_cols")
        )
        self._most = Mux(self.wide, config.max_accumulator_blocks, config.max_blocks)
        self.ends_row = self.cols <= self._most
        self.over = self.ends_row & (self.rows == 1)
        """It is the last move."""

    def begin(self, m: Module, matrix: Matrix) -> None:
        """Begin to move `matrix`, with its first tile."""
        line = matrix.stride << (self.config.dim - 1).bit_length()
        m.d.sync += [
            self.funct.eq(matrix.funct),
            self.wide.eq(matrix.wide),
            *(register.eq(matrix.dram) for register in (self.dram, self._line)),
            self._line_bytes.eq(Mux(matrix.wide, line << _WIDE_SHIFT, line)),
            self.local.eq(matrix.local),
            self.rows.eq(matrix.rows),
            *(register.eq(matrix.cols) for register in (self.cols, self._all_cols)),
            self._pad_rows.eq(matrix.pad_rows),
            self._pad_cols.eq(matrix.pad_cols),
        ]

    def advance(self, m: Module) -> None:
        """The next move."""
        dim, line = self.config.dim, self._line + self._line_bytes
        tiles = Mux(self.ends_row, self.cols, self._most)
        m.d.sync += self.local.eq(self.local + tiles * dim)
        with m.If(self.ends_row):
            m.d.sync += [register.eq(line) for register in (self.dram, self._line)]
            m.d.sync += [self.cols.eq(self._all_cols), self.rows.eq(self.rows - 1)]
        with m.Else():
            m.d.sync += [
                self.dram.eq(self.dram + Mux(self.wide, tiles * dim * ACC_BYTES, tiles * dim)),
                self.cols.eq(self.cols - self._most),
            ]

    def command(self, flags: Value | int = 0) -> Value:
        """The move, with `flags` in its local address."""
        dim = self.config.dim
        cols = Mux(self.ends_row, self.cols * dim - self._pad_cols, self._most * dim)
        rows = dim - Mux(self.rows == 1, self._pad_rows, 0)
        return command_of(self.funct, self.dram, tile_word(self.local | flags, cols, rows))
