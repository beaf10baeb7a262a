"""When products read from a bank of the scratchpad in every cycle, by the array's clock.

Nothing gets to the bank then, for products come first there.  A transform that writes where rows of
A are read, and all stores and transforms behind it in their queues, wait until they are over; so do
a load that writes where weights are read, and all loads behind it.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.latencies import tile_cycles
from celosia.sw.ir.program import Products, Space, Transform

__all__ = ["BankReads", "WeightReads"]

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


class WeightReads:
    """The banks that products read weights from, of those with no more rows than a tile."""

    def __init__(self, products: Iterable[tuple[Products, int, int]], config: AcceleratorConfig):
        """`products` are in order, each with the clock when it begins and when it is over."""
        self._bank_rows = config.scratchpad_bank_rows
        self._runs: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        """From when and until when products read from each bank, one behind the other."""
        for op, begin, over in products:
            if op.rows > tile_cycles(config, op.w_type, transposed=op.w_transposed):
                continue
            runs = self._runs[op.w // self._bank_rows]
            first = runs.pop()[0] if runs and runs[-1][1] == begin else begin
            runs.append((first, over))

    def over(self, row: int, now: int, cycles: int, reader: int) -> int:
        """When `cycles` of data that come from `now` on are in the bank of `row`.

        Products from `reader` on wait for these data, and do not hold them up.
        """
        runs = self._runs[row // self._bank_rows]
        for begin, over in runs[max(0, bisect_right(runs, (now, now)) - 1) :]:
            if begin >= min(reader, now + cycles):
                break
            if over > now:
                cycles -= max(0, begin - now)
                now = min(over, reader)
        return now + cycles
