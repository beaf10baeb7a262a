"""Tiles of keys that no query of some rows sees: what causal attention need not compute.

A tile is `dim` keys, and rows are taken in tiles, too: of a tile on the diagonal all of its rows
count.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from celosia.sw.ir.graph import DeferredSoftmax, Graph, Mask, MatMul, View

__all__ = [
    "Seen",
    "first_row_of",
    "keys_seen",
    "leaves_out",
    "needed_macs",
    "seen_products",
]


def leaves_out(mask: Mask) -> bool:
    """Whether tiles of keys that no row sees are left out: it has to be known which they are."""
    return mask.causal and not mask.moving


def first_row_of(key: int, diagonal: int, dim: int) -> int:
    """The first of some rows that meets the tile of keys from `key` on, in whole tiles of rows.

    Row r sees the keys up to ``diagonal + r``.
    """
    return max(0, key - diagonal) // dim * dim


def keys_seen(scores: MatMul, row: int, rows: int, dim: int) -> int:
    """The keys of the tiles that some rows of `scores` see, from the first key on."""
    finish = scores.finish
    assert isinstance(finish, DeferredSoftmax)
    if not leaves_out(finish.mask):
        return scores.out.cols
    return min(scores.out.cols, -(-(finish.mask.first_row + row + rows) // dim) * dim)


@dataclass(frozen=True)
class Seen:
    """The products of a causal head: those of its queries with keys, or of its numerators."""

    op: MatMul
    along: bool
    """Keys are along K, as those of values are; else they are columns."""
    diagonal: int
    """Row r sees the keys up to `diagonal` + r."""

    @property
    def keys(self) -> int:
        """The number of keys."""
        return self.op.a.cols if self.along else self.op.out.cols

    def tiles(self, dim: int) -> Iterator[tuple[int, int]]:
        """The rows that meet each tile of keys, and the keys of the tile."""
        rows = self.op.out.rows
        for key in range(0, self.keys, dim):
            met = rows - first_row_of(key, self.diagonal, dim)
            yield max(0, met), min(dim, self.keys - key)

    def macs(self, dim: int) -> int:
        """Multiply-accumulates of the tiles that some row sees."""
        other = self.op.out.cols if self.along else self.op.a.cols
        return other * sum(rows * keys for rows, keys in self.tiles(dim))


def seen_products(graph: Graph) -> Mapping[str, Seen]:
    """The products of causal heads of `graph`, by their names."""
    found: dict[str, Seen] = {}
    diagonals: dict[View, int] = {}
    for op in graph.ops:
        if not isinstance(op, MatMul):
            continue
        if isinstance(op.finish, DeferredSoftmax) and leaves_out(op.finish.mask):
            diagonals[op.out] = op.finish.mask.first_row
            found[op.name] = Seen(op, along=False, diagonal=op.finish.mask.first_row)
        elif op.a in diagonals:
            found[op.name] = Seen(op, along=True, diagonal=diagonals[op.a])
    return found


def needed_macs(graph: Graph, dim: int) -> Mapping[str, int]:
    """Multiply-accumulates of each product of `graph`, without tiles of keys that no row sees."""
    seen = seen_products(graph)
    return {
        op.name: seen[op.name].macs(dim) if op.name in seen else op.macs
        for op in graph.ops
        if isinstance(op, MatMul)
    }
