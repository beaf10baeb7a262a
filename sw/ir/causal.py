"""Tiles of keys that no query of some rows sees: what causal attention need not compute.

A tile is `dim` keys, and rows are taken in tiles, too: of a tile on the diagonal all of its rows
count, and of one where a window ends as well.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from celosia.sw.ir.graph import DeferredSoftmax, Graph, Mask, MatMul, View

__all__ = [
    "Diagonal",
    "Seen",
    "diagonal_of",
    "keys_seen",
    "leaves_out",
    "needed_macs",
    "seen_products",
]


@dataclass(frozen=True)
class Diagonal:
    """What causal rows see: row r the keys up to `last` + r."""

    last: int
    window: int | None = None
    """How many keys a row sees, at most; None: all of these."""

    def moved(self, *, rows: int = 0, keys: int = 0) -> "Diagonal":
        """The same for rows and keys that are counted from later ones."""
        return replace(self, last=self.last + rows - keys)

    def rows(self, key: int, rows: int, dim: int) -> tuple[int, int]:
        """The rows that meet the tile of keys from `key` on, of so many: the first, and behind."""
        first = max(0, key - self.last) // dim * dim
        if self.window is None:
            return min(first, rows), rows
        behind = -(-(key + dim - 1 + self.window - self.last) // dim) * dim
        behind = min(max(behind, 0), rows)
        return min(first, behind), behind

    def keys(self, rows: int, keys: int, dim: int) -> tuple[int, int]:
        """The keys of the tiles that some of the first `rows` see, of so many: first, and behind.

        One tile at least: of a row that sees no key, too, a program makes a result.
        """
        behind = min(keys, -(-(self.last + rows) // dim) * dim)
        if self.window is None:
            return 0, behind
        first = max(0, self.last - self.window + 1) // dim * dim
        return min(first, (behind - 1) // dim * dim), behind


def leaves_out(mask: Mask) -> bool:
    """Whether tiles of keys that no row sees are left out: it has to be known which they are."""
    return mask.causal and not mask.moving and mask.ring is None


def diagonal_of(mask: Mask) -> Diagonal | None:
    """What rows of scores see, if tiles that they do not see are left out."""
    return Diagonal(mask.first_row, mask.window) if leaves_out(mask) else None


def keys_seen(scores: MatMul, row: int, rows: int, dim: int) -> tuple[int, int]:
    """The keys of the tiles that some rows of `scores` see: the first, and that behind the last.

    The first one is where a part of its keys may begin.
    """
    finish = scores.finish
    assert isinstance(finish, DeferredSoftmax)
    diagonal = diagonal_of(finish.mask)
    if diagonal is None:
        return 0, scores.out.cols
    first, behind = diagonal.moved(rows=row).keys(rows, scores.out.cols, dim)
    begins = finish.begins(dim)
    return first // begins * begins, behind


@dataclass(frozen=True)
class Seen:
    """The products of a causal head: those of its queries with keys, or of its numerators."""

    op: MatMul
    along: bool
    """Keys are along K, as those of values are; else they are columns."""
    diagonal: Diagonal

    @property
    def keys(self) -> int:
        """The number of keys."""
        return self.op.a.cols if self.along else self.op.out.cols

    def tiles(self, dim: int) -> Iterator[tuple[int, int]]:
        """The rows that meet each tile of keys, and the keys of the tile."""
        for key in range(0, self.keys, dim):
            first, behind = self.diagonal.rows(key, self.op.out.rows, dim)
            yield behind - first, min(dim, self.keys - key)

    def macs(self, dim: int) -> int:
        """Multiply-accumulates of the tiles that some row sees."""
        other = self.op.out.cols if self.along else self.op.a.cols
        return other * sum(rows * keys for rows, keys in self.tiles(dim))


def seen_products(graph: Graph) -> Mapping[str, Seen]:
    """The products of causal heads of `graph`, by their names."""
    found: dict[str, Seen] = {}
    diagonals: dict[View, Diagonal] = {}
    for op in graph.ops:
        if not isinstance(op, MatMul):
            continue
        if isinstance(op.finish, DeferredSoftmax):
            diagonal = diagonal_of(op.finish.mask)
            if diagonal is not None:
                diagonals[op.out] = diagonal
                found[op.name] = Seen(op, along=False, diagonal=diagonal)
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
