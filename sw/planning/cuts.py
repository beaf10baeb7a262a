"""How a product may be cut: blocks of C that fit half the accumulator, pieces of A and B.

Pieces are as wide as one row of a load may be, as far as two of them fit a scratchpad bank.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.sw.ir.graph import MatMul
from celosia.sw.planning.rules.common import MAX_ROWS

__all__ = ["Cut", "cuts"]

PIECE_BYTES: Final = 1024
"""A piece of B is at least that large, if it can: fewer and longer loads."""
HEIGHTS: Final = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64)
"""Block heights that are tried, in units of ``dim`` rows."""


@dataclass(frozen=True, kw_only=True)
class Cut:
    """Sizes of blocks and pieces, as in `celosia.sw.planning.forms.stages.LinearStage`."""

    rows: tuple[int, ...]
    tiles: tuple[int, ...]
    k_tiles: int
    """Tiles of K."""
    a_tiles: int
    b_k_tiles: int
    b_n_tiles: int
    dim: int

    @property
    def a_rows(self) -> int:
        """Local rows of a piece of A."""
        return max(self.rows) * self.a_tiles

    @property
    def b_rows(self) -> int:
        """Local rows of a piece of B."""
        return self.b_k_tiles * self.b_n_tiles * self.dim

    @property
    def a_pieces(self) -> int:
        """Pieces of a row block of A, if its first one is not split."""
        return -(-self.k_tiles // self.a_tiles)

    def b_pieces(self, tiles: int) -> int:
        """Pieces of `tiles` column tiles of B, at most."""
        groups = (self.a_pieces + 1) * -(-self.a_tiles // self.b_k_tiles)
        return min(groups, self.k_tiles) * -(-tiles // self.b_n_tiles)


def cuts(op: MatMul, config: AcceleratorConfig) -> Iterator[Cut]:
    """Cuts of a product whose pieces and blocks fit the memories."""
    dim, wide = config.dim, config.max_blocks
    k_tiles, n_tiles = -(-op.a.cols // dim), -(-op.out.cols // dim)
    half, bank = config.accumulator_rows // 2, config.scratchpad_bank_rows
    seen: set[tuple[int, ...]] = set()
    for height in HEIGHTS:
        rows = balanced(op.out.rows, -(-op.out.rows // (height * dim)))
        m = rows[0]
        if rows in seen or m > min(half, MAX_ROWS, max(bank // 2, dim)):
            continue
        seen.add(rows)
        a_tiles = _shrunk(min(wide, k_tiles), bank // 2 // m)
        across = a_tiles if op.b_transposed else min(wide, n_tiles)
        across = _shrunk(across, bank // 2 // dim)
        down = -(-PIECE_BYTES // (across * dim * dim))
        down = min(down, n_tiles if op.b_transposed else a_tiles)
        down = _shrunk(down, bank // 2 // (across * dim))
        b_k_tiles, b_n_tiles = (across, down) if op.b_transposed else (down, across)
        most = min(n_tiles, half // m, *(_bias_tiles(n_tiles, config),) * (op.bias is not None))
        for tiles in _column_cuts(n_tiles, most, min(wide, n_tiles)):
            yield Cut(
                rows=rows,
                tiles=tiles,
                k_tiles=k_tiles,
                a_tiles=a_tiles,
                b_k_tiles=b_k_tiles,
                b_n_tiles=b_n_tiles,
                dim=dim,
            )


def _shrunk(size: int, limit: int) -> int:
    """`size`, halved until it is within `limit` (or 1)."""
    while size > max(limit, 1):
        size = -(-size // 2)
    return size


def balanced(extent: int, parts: int) -> tuple[int, ...]:
    """`extent` in `parts` sizes that differ by at most one, larger ones first."""
    size, larger = divmod(extent, parts)
    return (size + 1,) * larger + (size,) * (parts - larger)


def _column_cuts(tiles: int, limit: int, unit: int) -> list[tuple[int, ...]]:
    """`tiles` in blocks of at most `limit`: in large ones, small ones, or with a small last one."""
    ways = [_column_blocks(tiles, size, unit) for size in (limit, -(-limit // 2))]
    last = min(unit, limit)
    if last < tiles:
        ways.append((*_column_blocks(tiles - last, limit, unit), last))
    return list(dict.fromkeys(ways))


def _column_blocks(tiles: int, limit: int, unit: int) -> tuple[int, ...]:
    """`tiles` in nearly equal blocks of at most `limit`, whole `unit`s if they fit."""
    if limit < unit:
        return balanced(tiles, -(-tiles // limit))
    units = -(-tiles // unit)
    blocks = [unit * size for size in balanced(units, -(-units // (limit // unit)))]
    blocks[-1] -= sum(blocks) - tiles
    return tuple(blocks)


def _bias_tiles(n_tiles: int, config: AcceleratorConfig) -> int:
    """Most tiles of a block whose bias can be exchanged while another one's is in use."""
    rows = config.parameter_rows
    return rows if n_tiles <= rows else rows // 2
