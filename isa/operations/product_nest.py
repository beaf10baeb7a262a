"""What PRODUCTS stands for: products of tiles, for each tile of columns along K."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Final, Self

from celosia.isa.address import GARBAGE, LocalAddress
from celosia.isa.encoding import COMPUTE_PRELOADED, CONFIG_PRODUCTS, PRELOAD, PRODUCTS, Command
from celosia.isa.encoding.loops import LANE_BITS

__all__ = ["ProductNest"]

_LANE: Final = (1 << LANE_BITS) - 1
_PAIR: Final = 2
"""Commands of a product: PRELOAD and COMPUTE_PRELOADED."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ProductNest:
    """A well-formed PRODUCTS.  Tiles of A and W are in the order in which they are multiplied."""

    dim: int
    rows: int
    """Rows of A and C."""
    a: tuple[int, ...]
    """The first scratchpad row of each tile of A along K, all pieces."""
    w: tuple[tuple[int, ...], ...]
    """The first scratchpad row of each tile of the weights along K, for each tile of columns."""
    c: tuple[int, ...]
    """The first accumulator row of each tile of C."""
    last_depth: int
    """Columns of the last tile of A, and rows of the weights that these meet."""
    last_cols: int
    """Columns of the last tile of columns."""
    overwrite: bool
    """The first product of each C overwrites it."""

    @classmethod
    def decode(cls, command: Command, strides: Command, dim: int) -> Self | None:
        """PRODUCTS `command` behind CONFIG_PRODUCTS `strides`; None: it is not well formed."""
        v, s = PRODUCTS.decode(command), CONFIG_PRODUCTS.decode(strides)
        counts = v["rows"], v["k"], v["pieces"], v["columns"]
        if not (all(counts) and 0 < v["last_depth"] <= dim and 0 < v["last_cols"] <= dim):
            return None
        along_k = [*product(range(v["pieces"]), range(v["k"]))]
        w_k = [piece * s["w_piece"] + k * s["w_k"] for piece, k in along_k]
        columns = range(v["columns"])
        return cls(
            dim=dim,
            rows=v["rows"],
            a=tuple(v["a"] + p * s["a_piece"] + k * s["a_k"] & _LANE for p, k in along_k),
            w=tuple(
                tuple(v["w"] + column * s["w_column"] + at & _LANE for at in w_k)
                for column in columns
            ),
            c=tuple(v["c"] + column * s["c_column"] & _LANE for column in columns),
            last_depth=v["last_depth"],
            last_cols=v["last_cols"],
            overwrite=bool(v["overwrite"]),
        )

    @property
    def depth(self) -> int:
        """Elements along K."""
        return (len(self.a) - 1) * self.dim + self.last_depth

    @property
    def cols(self) -> int:
        """Columns of C, all tiles together."""
        return (len(self.c) - 1) * self.dim + self.last_cols

    def __len__(self) -> int:
        return _PAIR * len(self.a) * len(self.c)

    @property
    def last_preload(self) -> dict[str, int]:
        """The operands of the PRELOAD of the last product."""
        return self._preload(len(self.c) - 1, len(self.a) - 1)

    def commands(self) -> Iterator[Command]:
        """The commands that it stands for, in order."""
        for column, k in product(range(len(self.c)), range(len(self.a))):
            yield PRELOAD.encode(**self._preload(column, k))
            depth = self._depth(k)
            yield COMPUTE_PRELOADED.encode(a=self.a[k], a_cols=depth, a_rows=self.rows, d=GARBAGE)

    def _depth(self, k: int) -> int:
        return self.last_depth if k == len(self.a) - 1 else self.dim

    def _preload(self, column: int, k: int) -> dict[str, int]:
        cols = self.last_cols if column == len(self.c) - 1 else self.dim
        accumulate = not (self.overwrite and k == 0)
        c = LocalAddress(row=self.c[column], accumulator=True, accumulate=accumulate)
        return {
            "b": self.w[column][k],
            "b_cols": cols,
            "b_rows": self._depth(k),
            "c": c.encode(),
            "c_cols": cols,
            "c_rows": self.rows,
        }
