"""Where the pieces of a head of attention stand in the local memories, and how it is cut.

For four banks of R rows (or as many quarters of the scratchpad):

    bank 0: keys, R
    bank 1: numerators and queries of every other part
    bank 2: those of the parts between
    bank 3: values, R/2; results, R/2

Keys and values that do not fit there are streamed past, once for each block of rows.  They then
share R/2 rows of bank 0 and of bank 3 by turns, so that one piece arrives while another is read.

Scores of all keys stand in half of the accumulator at once if enough rows of them do to stream
through the tiles of weights, each of which takes as long as `dim` rows to move in.  Else keys are
taken block by block, twice: once for the maximum, once for all else.  That is half as many products
again, but of full blocks of rows.
"""

from dataclasses import dataclass

from celosia.sw.ir.program import Space
from celosia.sw.lowering.cuts import tiles
from celosia.sw.lowering.places import Places
from celosia.sw.lowering.rings import RING_SHARES, Ring

__all__ = ["HeadPlaces", "HeadShape", "head_places"]


@dataclass(frozen=True, kw_only=True)
class HeadShape:
    """Extents of a head, in elements."""

    rows: int
    """The number of queries."""
    keys: int
    depth: int
    """Columns of queries and keys."""
    width: int
    """The number of columns of values."""

    def __str__(self) -> str:
        return f"{self.rows} queries and {self.keys} keys of {self.depth}, values of {self.width}"


@dataclass(frozen=True, kw_only=True)
class HeadPlaces:
    """What heads of one shape use; pairs are for parts, or blocks of rows, by turns."""

    block_rows: int
    """The rows of a block."""
    block_keys: int
    """Keys of a part: all, or so many that scores of two parts stand in the accumulator."""
    at_once: bool
    """All keys are one part."""
    keys: Ring
    values: Ring
    queries: tuple[Ring, Ring]
    numerators: tuple[int, int]
    """The first scratchpad row of the numerators of each of two parts."""
    scores: tuple[int, int]
    """The first accumulator row of the scores of each of two parts."""
    contexts: tuple[int, int]
    """The first accumulator row of the contexts of each of two blocks of rows."""
    results: Ring

    @property
    def streams(self) -> bool:
        """Keys and values do not stay: they are loaded for each block of rows."""
        return self.keys is self.values

    def __str__(self) -> str:
        keys = (
            "all scores of a block at once"
            if self.at_once
            else f"scores of {self.block_keys} keys at a time, for the maximum and once again"
        )
        stay = "are streamed for each block" if self.streams else "stay until the next head"
        return f"blocks of up to {self.block_rows} rows; {keys}; keys and values {stay}"


def head_places(places: Places, shape: HeadShape) -> HeadPlaces:
    """Where heads of this shape stand.

    Raises `ValueError` if not even a row of the context fits.
    """
    dim, half = places.config.dim, places.accumulator_half
    width = tiles(shape.width, dim)
    if width > half:
        raise ValueError(
            f"a head is {shape.width} wide, more than the {half * dim} that the sums of fit"
        )
    rows, keys = _cut(places, shape)
    at_once = keys >= shape.keys
    bank, numerators = places.bank_rows, max(places.bank_rows // 2, rows * tiles(keys, dim))
    first = places.banks
    stays = Ring(Space.SCRATCHPAD, (first[0], bank)), Ring(Space.SCRATCHPAD, (first[3], bank // 2))
    of_keys, of_values = stays if _stay(places, shape) else (places.weights, places.weights)
    return HeadPlaces(
        block_rows=rows,
        block_keys=keys,
        at_once=at_once,
        keys=of_keys,
        values=of_values,
        queries=(
            Ring(Space.SCRATCHPAD, (first[1] + numerators, bank - numerators)),
            Ring(Space.SCRATCHPAD, (first[2] + numerators, bank - numerators)),
        ),
        numerators=(first[1], first[2]),
        scores=(0, 0 if at_once else half // 2),
        contexts=(half, half + (half // 2 if 2 * rows * width <= half else 0)),
        results=Ring(Space.SCRATCHPAD, (first[3] + bank // 2, bank // 2)),
    )


def _stay(places: Places, shape: HeadShape) -> bool:
    """Whether keys and values of a head stay in the scratchpad."""
    dim, bank = places.config.dim, places.bank_rows
    keys = tiles(shape.keys, dim) * dim
    return keys * tiles(shape.depth, dim) <= bank and keys * tiles(shape.width, dim) <= bank // 2


def _cut(places: Places, shape: HeadShape) -> tuple[int, int]:
    """Rows of a block, and keys of a part."""
    dim, half = places.config.dim, places.accumulator_half
    bank, keys = places.bank_rows, tiles(shape.keys, dim)
    most = min(
        places.block_rows,
        places.config.statistics_rows // 2,
        half // tiles(shape.width, dim),
    )
    # All numerators in half a bank, or beside just the queries that are used together.
    queries = min(tiles(shape.depth, dim), RING_SHARES * places.piece_tiles)
    rows = min(most, half // keys, max(bank // 2 // keys, bank // (keys + queries)))
    if places.choices.whole_scores and (rows >= shape.rows or 3 * rows >= 2 * dim):
        return rows, shape.keys
    rows = min(most, shape.rows, max(1, half // 4))
    fit = max(1, min(half // 2, bank // 2) // rows)
    return rows, dim * min(fit, tiles(keys, 2))
