"""When products read rows of A from a bank of the scratchpad in every cycle, by the array's clock.

No results of transforms get to the bank then, for products come first there: a transform that
writes to it, and all stores and transforms behind it in their queues, wait until they are over.
"""

from bisect import bisect_left
from collections.abc import Iterable
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.sw.ir.program import Products, Space, Transform

__all__ = ["BankReads"]

_CLEAR: Final = 768
"""Cycles before the reads by which a transform is to be over, for it begins later than expected:
its bias comes behind weights.  Measured on 16 texts of GPT-2 small, where 512 and 1,024 are as
good, and 64 costs 0.7 %."""
_FARTHEST: Final = 2048
"""Cycles by which a transform comes earlier for that, at most.  Where results share the bank of A
throughout, they wait in any case, and only stand before others."""


class BankReads:
    """The banks that products read rows of A from, of those with a row in every cycle."""

    def __init__(self, products: Iterable[tuple[Products, int, int]], config: AcceleratorConfig):
        """`products` are in order, each with the clock when it begins and when it is over."""
        self._bank_rows = config.scratchpad_bank_rows
        self._begins: list[int] = []
        self._runs: list[tuple[int, int]] = []
        """When products are over that read from one bank, one behind the other, and that bank."""
        for op, begin, over in products:
            if op.rows < config.dim:
                continue
            bank = op.a // self._bank_rows
            if self._runs and self._runs[-1] == (begin, bank):
                self._runs[-1] = over, bank
            else:
                self._begins.append(begin)
                self._runs.append((over, bank))

    def before(self, op: Transform, latest: int, cycles: int, complete: int) -> int:
        """When a transform of so many cycles is to begin, that else would begin at `latest`.

        Its sums are `complete` at some time, before which it is not moved.
        """
        targets = (each for each in op.targets if each.space is Space.SCRATCHPAD)
        banks, begin = {each.row // self._bank_rows for each in targets}, latest
        while (reads := self._reads(banks, begin, begin + cycles)) is not None:
            begin = reads - cycles - _CLEAR
            if begin < complete or latest - reads > _FARTHEST:
                return latest
        return begin

    def _reads(self, banks: set[int], begin: int, end: int) -> int | None:
        """When the last reads of one of these banks begin, of those that meet this time."""
        for run in reversed(range(bisect_left(self._begins, end))):
            over, bank = self._runs[run]
            if over <= begin:
                return None
            if bank in banks:
                return self._begins[run]
        return None
