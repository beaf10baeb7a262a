"""Where the pieces of operators stand in the local memories.

A scratchpad bank serves one access in a cycle.  Rows of A take one in every cycle, so their pieces
alternate between two banks, and whoever wants one of these waits for the other's turn.  Tiles of W
take as many as a load brings, so that they alternate, too.  For four banks of R rows (or as many
quarters):

    bank 0: weights, R/2; results of bytes, R/2
    bank 1: pieces of A, R/2; wide results, R/2
    bank 2: pieces of A, R/2; normalized results, R/2
    bank 3: weights, R/2; int16 operands, R/2

Heads of attention have their own plan for the same banks (`celosia.sw.lowering.head_places`).
"""

from typing import Final

from celosia.isa.config import ACC_BYTES, AcceleratorConfig
from celosia.sw.ir.program import Space
from celosia.sw.lowering.choices import DEFAULT, Choices
from celosia.sw.lowering.rings import RING_SHARES, Ring

__all__ = ["Places"]

_BANKS: Final = 4
_RING_PIECES: Final = 4
"""Pieces of weights that a ring has at least."""
_CHUNK_TILES: Final = 8
"""Int16 tiles of a block of rows that are worth a ring of their own."""


class Places:
    """The rings and regions of an accelerator's memories.

    Raises `ValueError` if the scratchpad is too small for them.
    """

    def __init__(self, config: AcceleratorConfig, choices: Choices = DEFAULT):
        self.config = config
        self.choices = choices
        rows = self.bank_rows
        half = rows // 2
        if half < RING_SHARES * config.dim:
            least = 2 * _BANKS * RING_SHARES * config.dim
            raise ValueError(
                f"scratchpad_kib: {config.scratchpad_kib} are {config.scratchpad_rows} rows, but "
                f"graphs need at least {2 * _BANKS * RING_SHARES}*dim = {least}"
            )
        first = self.banks
        scratchpad = Space.SCRATCHPAD
        self.weights = Ring(scratchpad, (first[0], half), (first[3], half))
        self.bytes = Ring(scratchpad, (first[0] + half, half))
        """The ring of results of one byte."""
        self.activations = Ring(scratchpad, (first[1], half), (first[2], half))
        self.wide = Ring(scratchpad, (first[1] + half, half))
        """The ring of results of more than a byte."""
        self.normalized = Ring(scratchpad, (first[2] + half, half))
        """The ring of results of normalizations, of more than a byte."""
        self.words = Ring(scratchpad, (first[3] + half, half))
        """The ring of int16 that are loaded from memory."""
        residuals = sums = (first[3] + half, half)
        if half >= 2 * _CHUNK_TILES * choices.block_tiles * config.dim:
            residuals, sums = (residuals[0], half // 2), (residuals[0] + half // 2, half // 2)
        self.residuals = Ring(scratchpad, residuals)
        """The ring of int16 that are added to sums; apart from `sums` if there is room for both."""
        self.sums = Ring(scratchpad, sums)
        """The ring of int16 on the way to their normalization, between products."""
        parameters = config.parameter_rows // 2
        self.columns = Ring(Space.PARAMETERS, (0, parameters))
        """The ring of parameters of bias and scales."""
        self.affines = Ring(Space.PARAMETERS, (parameters, parameters))
        """The ring of parameters of gamma and beta."""
        self.accumulator_half = config.accumulator_rows // 2
        self.halves = Ring(
            Space.ACCUMULATOR,
            (0, self.accumulator_half),
            (self.accumulator_half, self.accumulator_half),
        )
        """The halves for sums: while one half is worked on, the other one is drained."""
        self._slots = 0

    @property
    def bank_rows(self) -> int:
        """Rows of a bank, or of a quarter of the scratchpad."""
        return self.config.scratchpad_rows // _BANKS

    @property
    def banks(self) -> tuple[int, ...]:
        """The first row of each bank."""
        return tuple(bank * self.bank_rows for bank in range(_BANKS))

    @property
    def piece_tiles(self) -> int:
        """Tiles along K of a piece."""
        config = self.config
        tile_rows = config.dim * config.max_blocks
        fit = self.weights.rows // (_RING_PIECES * tile_rows)
        return max(1, min(self.choices.piece_tiles, config.max_blocks, fit))

    @property
    def block_rows(self) -> int:
        """Rows that stream through a tile of weights, where there are as many.

        Their sums fit into half of the accumulator, their results into their rings, whatever the
        type, and two pieces of them stay in a ring of queries in half of a bank.
        """
        return min(
            self.choices.block_tiles * self.config.dim,
            self.accumulator_half,
            self.wide.rows // ACC_BYTES,
            self.bank_rows // 2 // (RING_SHARES * self.piece_tiles),
        )

    def results(self, element_bytes: int) -> Ring:
        """Where results of elements of this size go on their way to memory."""
        return self.bytes if element_bytes == 1 else self.wide

    def next_slots(self) -> int:
        """The first slot of the half of the statistics whose turn it is."""
        self._slots ^= self.config.statistics_rows // 2
        return self._slots
