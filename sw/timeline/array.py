"""When rows enter the array, and which banks they and their weights keep busy."""

from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.latencies import MIN_PRODUCT_CYCLES
from celosia.sw.timeline.banks import Banks

__all__ = ["RESULT_CYCLES", "ArrayUnit"]

ROW_CYCLES: Final = 5
"""Cycles from a product that leaves its queue to its first row."""
WAVE_CYCLES: Final = 1
"""Cycles from a product that leaves its queue to the first row of its weights."""
TRANSPOSED_ROW_CYCLES: Final = 6
"""Cycles from a product with transposed weights that leaves its queue to its first row, beside a
tile that passes the transposer."""
RESULT_CYCLES: Final = 2
"""Cycles from a row in the array to its result, beside the array's two dimensions."""


class ArrayUnit:
    """Weights are read a wave ahead of their rows; both come before all others at their banks."""

    def __init__(self, config: AcceleratorConfig, banks: Banks, sums: Banks):
        self._config, self._banks, self._sums = config, banks, sums
        self.over = 0.0
        """When the rows so far have entered the array."""
        self._row = -1
        """The first row of the last product."""
        self._begin = self._end = 0.0
        """From when and until when its rows are read, if no weights are in their way."""
        self._wave = 0.0
        """When the weights so far have been read."""

    def take(
        self,
        begin: float,
        operands: tuple[int, int, int],
        rows: int,
        *,
        transposed: bool,
        adds: bool,
    ) -> float:
        """A product of `operands`, first rows of A, W and C, could leave its queue at `begin`.

        Returns when its first row enters the array.
        """
        (a, w, c), dim = operands, self._config.dim
        lead = TRANSPOSED_ROW_CYCLES - ROW_CYCLES if transposed else 0
        # The array takes weights when it has turned to those before, the transposer a bit sooner.
        wave = max(begin + WAVE_CYCLES + lead, self._wave, self._begin - lead)
        begin += dim + TRANSPOSED_ROW_CYCLES if transposed else ROW_CYCLES
        begin = max(begin, self.over, self._behind(a, w, wave, transposed=transposed))
        self._begin, self._end, self._wave = begin, begin + rows, wave + dim
        self.over = begin + max(rows, dim, MIN_PRODUCT_CYCLES)
        self._banks.stream(a, begin, self._end)
        self._banks.stream(w, wave, wave + dim)
        if adds:
            self._sums.stream(c, begin + 2 * dim, self._end + 2 * dim)
        return begin

    def _behind(self, a: int, w: int, wave: float, *, transposed: bool) -> float:
        """When rows from `a` on may enter because of weights from `w` on, read from `wave` on.

        Weights come first at their bank: rows that are read there wait, those of the product before
        as well as, if the transposer is not between them, its own.
        """
        size, before, dim = self._banks.rows, self._row, self._config.dim
        bank, over, self._row, begin = w // size, self._end, a, 0.0
        if bank == before // size and wave < over:
            begin = over + dim
            self._banks.stream(before, over, begin)
        if bank == a // size and not transposed:
            begin = max(begin, wave + dim)
        return begin
