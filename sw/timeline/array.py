"""When rows enter the array, and which banks they and their weights keep busy."""

from math import inf
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import WeightType
from celosia.isa.latencies import MIN_PRODUCT_CYCLES, tile_cycles
from celosia.sw.timeline.banks import Banks

__all__ = ["RESULT_CYCLES", "ArrayUnit"]

ROW_CYCLES: Final = 5
"""Cycles from a product that leaves its queue to its first row, at least."""
WAVE_CYCLES: Final = 3
"""Cycles from a product that leaves its queue to the first row of its weights."""
FILL_CYCLES: Final = 2
"""The same, where they pass the transposer."""
BEHIND_CYCLES: Final = 2
"""Cycles from weights that begin to enter the array to the first row for them."""
RESULT_CYCLES: Final = 1
"""Cycles from a row in the array to its result, beside the array's two dimensions."""


class ArrayUnit:
    """Weights are read a wave ahead of their rows; both come before all others at their banks."""

    def __init__(self, config: AcceleratorConfig, banks: Banks, sums: Banks):
        self._config, self._banks, self._sums = config, banks, sums
        self.over = 0.0
        """When the rows so far have entered the array."""
        self._row = -1
        """The first row of the last product."""
        self._begin, self._end = -inf, 0.0
        """From when and until when its rows are read, if no weights are in their way."""
        self._wave = 0.0
        """When the weights so far have been read."""
        self._drain = -inf
        """From when on the last tile leaves the transposer."""

    def take(
        self,
        begin: float,
        operands: tuple[int, int, int],
        rows: int,
        *,
        transposed: bool,
        adds: bool,
        weights: WeightType = WeightType.INT8,
    ) -> float:
        """A product of `operands`, first rows of A, W and C, could leave its queue at `begin`.

        Returns when its first row enters the array.
        """
        (a, w, c), dim = operands, self._config.dim
        tile = tile_cycles(self._config, weights, transposed=transposed)
        # The array takes weights when the shadow registers of those before are free.
        free = self._begin + tile - BEHIND_CYCLES
        if transposed:
            wave = self._filled(max(begin + FILL_CYCLES, self._wave))
            enters = self._drain = max(wave + dim, free)
        else:
            enters = wave = max(begin + WAVE_CYCLES, self._wave, free, self._drain + dim)
        begin = max(begin + ROW_CYCLES, enters + BEHIND_CYCLES, self.over)
        begin = max(begin, self._behind(a, w, (wave, wave + tile), transposed=transposed))
        self._begin, self._end, self._wave = begin, begin + rows, wave + tile
        self.over = begin + max(rows, tile, MIN_PRODUCT_CYCLES)
        self._banks.stream(a, begin, self._end)
        self._banks.stream(w, wave, self._wave)
        if adds:
            self._sums.stream(c, begin + 2 * dim, self._end + 2 * dim)
        return begin

    def _filled(self, begin: float) -> float:
        """When weights that could be read from `begin` on enter the transposer.

        Those before leave it meanwhile, or alone.
        """
        drain = self._drain
        return drain if begin <= drain else max(begin, drain + self._config.dim)

    def _behind(self, a: int, w: int, wave: tuple[float, float], *, transposed: bool) -> float:
        """When rows from `a` on may enter because of weights from `w` on, read in `wave`.

        Weights come first at their bank: rows that are read there wait, those of the product before
        as well as, if the transposer is not between them, its own.
        """
        size, before, (start, read) = self._banks.rows, self._row, wave
        bank, over, self._row, begin = w // size, self._end, a, 0.0
        if bank == before // size and start < over:
            begin = over + read - start
            self._banks.stream(before, over, begin)
        if bank == a // size and not transposed:
            begin = max(begin, read)
        return begin
