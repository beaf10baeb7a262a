"""Where the pieces of operators stand in the local memories.

A scratchpad bank serves one access in a cycle, and rows of A take one in every cycle: so weights
are in another bank than A, and the pieces of A alternate between two banks, because a load cannot
write to the one that streams.  Results of transforms may wait.  For four banks of R rows (or as
many quarters):

    bank 0: weights, R/2; residuals, R/2     (attention: keys, R)
    bank 1: pieces of A, R/2; results, R/2   (attention: queries, numerators, of every other block)
    bank 2: pieces of A, R/2; sums           (attention: those of the blocks between)
    bank 3: sums                             (attention: values; results)
"""

from dataclasses import dataclass
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.sw.ir.program import Space
from celosia.sw.lowering.rings import Ring

__all__ = ["Places"]

_BANKS: Final = 4
_PIECE_TILES: Final = 4
"""Tiles along K that a piece has at most."""
_RING_PIECES: Final = 4
"""Pieces of weights that a ring has at least."""
_BLOCK_TILES: Final = 4
"""Rows of a block, in tiles: weights then come in a quarter of the time in which they are used."""


@dataclass(frozen=True)
class AttentionPlaces:
    """What attention needs, twice where blocks of rows alternate."""

    keys: Ring
    values: Ring
    queries: tuple[Ring, Ring]
    numerators: tuple[int, int]
    """First scratchpad rows."""
    numerator_rows: int
    """How many there are of each."""
    results: Ring


class Places:
    """The rings and regions of an accelerator's memories."""

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        rows = config.scratchpad_rows // _BANKS
        half = rows // 2
        first = [bank * rows for bank in range(_BANKS)]
        scratchpad = Space.SCRATCHPAD
        self.weights = Ring(scratchpad, (first[0], half))
        self.residuals = Ring(scratchpad, (first[0] + half, half))
        self.activations = Ring(scratchpad, (first[1], half), (first[2], half))
        self.results = Ring(scratchpad, (first[1] + half, half))
        self.sums = Ring(scratchpad, (first[2] + half, half + rows))
        """Of int16 sums that wait for their normalization."""
        self.parameters = Ring(Space.PARAMETERS, (0, config.parameter_rows))
        self.accumulator_half = config.accumulator_rows // 2
        self.halves = Ring(
            Space.ACCUMULATOR,
            (0, self.accumulator_half),
            (self.accumulator_half, self.accumulator_half),
        )
        """Of sums: while one half is worked on, the other one is drained."""
        self.attention = AttentionPlaces(
            keys=Ring(scratchpad, (first[0], rows)),
            values=Ring(scratchpad, (first[3], half)),
            queries=(
                Ring(scratchpad, (first[1] + half, half)),
                Ring(scratchpad, (first[2] + half, half)),
            ),
            numerators=(first[1], first[2]),
            numerator_rows=half,
            results=Ring(scratchpad, (first[3] + half, half)),
        )

    @property
    def piece_tiles(self) -> int:
        """Tiles along K of a piece."""
        config = self.config
        tile_rows = config.dim * config.max_blocks
        fit = self.weights.rows // (_RING_PIECES * tile_rows)
        return max(1, min(_PIECE_TILES, config.max_blocks, fit))

    @property
    def block_rows(self) -> int:
        """Rows that stream through a tile of weights, where there are as many."""
        return _BLOCK_TILES * self.config.dim

    def statistics(self, block: int, rows: int) -> int:
        """The first slot of row block number `block`, of `rows` rows."""
        return block % 2 * rows
