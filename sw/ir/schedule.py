"""How a matrix product is cut, ordered and placed: a decision as a printable value.

Sizes are in rows, or in *tiles* of ``dim`` columns.  Nothing here depends on addresses in memory.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

__all__ = ["MatMulSchedule", "Pool"]


@dataclass(frozen=True, kw_only=True)
class Pool:
    """Equal slots in some scratchpad banks, each for one piece of an operand."""

    banks: tuple[int, ...]
    base: int
    """First row, counted from the start of each bank."""
    slot_rows: int
    slots_per_bank: int

    @property
    def slots(self) -> int:
        """Slots in all banks."""
        return len(self.banks) * self.slots_per_bank

    def __str__(self) -> str:
        banks = ",".join(map(str, self.banks))
        return f"{self.slots_per_bank} slots of {self.slot_rows} rows in each of banks {banks}"


@dataclass(frozen=True, kw_only=True)
class MatMulSchedule:
    """The plan of one product.

    C is cut into blocks of ``rows[i]`` rows and ``cols[j]`` tiles, each of which is accumulated
    in one half of the accumulator while the other half drains.  A is moved in pieces of one row
    block by `a_tiles` tiles, B in pieces of `b_k_tiles` by `b_n_tiles` tiles.
    """

    rows: tuple[int, ...]
    cols: tuple[int, ...]
    outer: Literal["rows", "cols"]
    """Which blocks the outer loop walks over."""
    a_tiles: int
    first_a_tiles: int
    """Tiles of the very first piece of A; fewer than `a_tiles` let the array start earlier."""
    b_k_tiles: int
    b_n_tiles: int
    store_tiles: int
    """Tiles of C that leave together."""
    keep_a: bool
    """Pieces of A stay until their last use, rather than being loaded for each block of C."""
    keep_b: bool
    a_pool: Pool
    b_pool: Pool
    places: int
    """Blocks that each half of the accumulator has room for, and that take turns in it."""
    bias_slots: int
    """Blocks of columns whose bias the parameter memory holds at once; 0: there is no bias."""
    lookahead: int
    """Loads that are issued ahead of the one that the next product needs."""
    tail: tuple[int, ...]
    """How the tiles of the last block are finished one part after the other; empty: at once."""

    @property
    def row_pitch(self) -> int:
        """Local rows from one tile of A, or of C, to the next."""
        return max(self.rows)

    def __str__(self) -> str:
        return "\n".join((
            f"blocks: rows {_runs(self.rows)}, tiles {_runs(self.cols)}, {self.outer} outermost",
            f"A: pieces of {self.a_tiles} tiles (first {self.first_a_tiles}), "
            f"{'kept' if self.keep_a else 'streamed'}, {self.a_pool}",
            f"B: pieces of {self.b_k_tiles}x{self.b_n_tiles} tiles, "
            f"{'kept' if self.keep_b else 'streamed'}, {self.b_pool}",
            f"C: {self.store_tiles} tiles leave together; last block: "
            f"{'+'.join(map(str, self.tail)) or 'at once'}",
            f"places {self.places}, bias slots {self.bias_slots}, lookahead {self.lookahead} loads",
        ))


def _runs(sizes: Sequence[int]) -> str:
    runs = [(size, len(list(run))) for size, run in groupby(sizes)]
    return " + ".join(f"{count} x {size}" if count > 1 else f"{size}" for size, count in runs)
