"""A product and its schedule to blocks of tile operations, without loads.

Assumes a schedule made for the problem and the configuration.  Guarantees the order in which tiles
are multiplied and stored, with accumulator rows; which loads that takes is left to `place_tiles`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

from celosia.isa.config import AcceleratorConfig
from celosia.sw.ir.matmul import MatMul
from celosia.sw.ir.schedule import MatMulSchedule
from celosia.sw.ir.tile import Block, Multiply, Piece, Store

__all__ = ["order_matmul"]

Cut = tuple[int, int]
"""Start and length, in elements or in tiles."""


def order_matmul(
    problem: MatMul, config: AcceleratorConfig, schedule: MatMulSchedule
) -> tuple[Block, ...]:
    """The blocks of C in the order of `schedule`, each with its operations in order."""
    visits = _visits(schedule)
    return tuple(
        tuple(
            _BlockOrder(
                problem=problem,
                dim=config.dim,
                schedule=schedule,
                row=row,
                tiles=tiles,
                homes=_homes(config, schedule, number),
                last=number == len(visits) - 1,
            ).ops()
        )
        for number, (row, tiles) in enumerate(visits)
    )


def _homes(config: AcceleratorConfig, schedule: MatMulSchedule, number: int) -> tuple[int, int]:
    """First accumulator rows of a block: in its own half, and in the other one.

    Blocks take turns between the halves, and between the places in a half.
    """
    half_rows = config.accumulator_rows // 2
    block_rows = schedule.row_pitch * max(schedule.cols)
    place = number // 2 % schedule.places * block_rows
    return (place, half_rows + place) if number % 2 == 0 else (half_rows + place, place)


def _visits(schedule: MatMulSchedule) -> list[tuple[Cut, Cut]]:
    """Rows and tiles of the blocks, in order."""
    rows, cols = _starts(schedule.rows), _starts(schedule.cols)
    if schedule.outer == "rows":
        return [(row, col) for row in rows for col in cols]
    return [(row, col) for col in cols for row in rows]


@dataclass(frozen=True, kw_only=True)
class _BlockOrder:
    """A block of C, as the order of operations sees it."""

    problem: MatMul
    dim: int
    schedule: MatMulSchedule
    row: Cut
    """The block's rows of C: start and length in elements."""
    tiles: Cut
    """The block's column tiles: start and number."""
    homes: tuple[int, int]
    """Accumulator row of the first tile, in its own half and in the other one."""
    last: bool
    """Whether the block is the last one of the product."""

    def ops(self) -> Iterator[Multiply | Store]:
        """All operations, part after part.

        Parts change halves as blocks do: a half is not drained while products add to it.
        """
        parts = self.schedule.tail if self.last and self.schedule.tail else (self.tiles[1],)
        for number, (start, size) in enumerate(_starts(parts)):
            yield from self._part((self.tiles[0] + start, size), self.homes[number % 2])

    def _part(self, part: Cut, home: int) -> Iterator[Multiply | Store]:
        stores = {
            store[0] + store[1] - 1: store for store in _cuts(part, self.schedule.store_tiles)
        }
        for group in self._groups():
            a = _piece("a", self.row, self._elements(group, self.problem.k))
            for k_cut in _cuts(group, self.schedule.b_k_tiles):
                for n_cut in _cuts(self.tiles, self.schedule.b_n_tiles):
                    b = self._b_piece(k_cut, n_cut)
                    for k, tile in self._products(k_cut, n_cut, part):
                        yield self._multiply((k, tile), a, b, home)
                        if k == self._k_tiles - 1 and tile in stores:
                            yield self._store(stores[tile], home)

    @property
    def _k_tiles(self) -> int:
        return -(-self.problem.k // self.dim)

    def _groups(self) -> list[Cut]:
        """The tiles of K that the pieces of A hold."""
        first = self.schedule.a_tiles if self.row[0] else self.schedule.first_a_tiles
        first = min(first, self._k_tiles)
        return [(0, first), *_cuts((first, self._k_tiles - first), self.schedule.a_tiles)]

    def _products(self, k_cut: Cut, n_cut: Cut, part: Cut) -> Iterator[Cut]:
        """(k, column tile) of the products with one piece of B, along the rows of its tiles."""
        tiles = range(max(n_cut[0], part[0]), min(sum(n_cut), sum(part)))
        depths = range(k_cut[0], sum(k_cut))
        if self.problem.b_transposed:
            return ((k, tile) for tile in tiles for k in depths)
        return ((k, tile) for k in depths for tile in tiles)

    def _multiply(self, product: Cut, a: Piece, b: Piece, home: int) -> Multiply:
        k, tile = product
        start, depth = self._elements((k, 1), self.problem.k)
        col, cols = self._elements((tile, 1), self.problem.n)
        return Multiply(*self.row, col, cols, start, depth, a, b, self._at(tile, home))

    def _store(self, tiles: Cut, home: int) -> Store:
        bias = None
        if self.problem.bias:
            bias = _piece("bias", (0, 1), self._elements(self.tiles, self.problem.n))
        columns = self._elements(tiles, self.problem.n)
        return Store(*self.row, *columns, self._at(tiles[0], home), bias)

    def _at(self, tile: int, home: int) -> int:
        return home + (tile - self.tiles[0]) * self.schedule.row_pitch

    def _b_piece(self, k_cut: Cut, n_cut: Cut) -> Piece:
        k, n = self._elements(k_cut, self.problem.k), self._elements(n_cut, self.problem.n)
        return _piece("b", n, k) if self.problem.b_transposed else _piece("b", k, n)

    def _elements(self, tiles: Cut, extent: int) -> Cut:
        start = tiles[0] * self.dim
        return start, min(tiles[1] * self.dim, extent - start)


def _piece(tensor: str, rows: Cut, cols: Cut) -> Piece:
    return Piece(tensor, rows[0], cols[0], rows[1], cols[1])


def _cuts(extent: Cut, step: int) -> list[Cut]:
    """`extent` in pieces of `step`; only the last may be short."""
    end = sum(extent)
    return [(start, min(step, end - start)) for start in range(extent[0], end, step)]


def _starts(sizes: tuple[int, ...]) -> list[Cut]:
    """Start and length of consecutive pieces of these `sizes`."""
    return [(end - size, size) for end, size in zip(accumulate(sizes), sizes, strict=True)]
