"""When products read from a bank of the scratchpad in every cycle, by the array's clock.

Nothing gets to the bank then, for products come first there.  A transform that writes where rows of
A are read, and all stores and transforms behind it in their queues, wait until they are over; so do
a load that writes where weights are read, and all loads behind it.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping
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


Runs = Mapping[int, list[tuple[int, int]]]
"""From when and until when products read from each bank, one behind the other."""


def _runs(products: Iterable[tuple[int, int, int]], bank_rows: int) -> Runs:
    """The runs of products that read from these rows, each between two clocks, in order."""
    runs: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for row, begin, over in products:
        known = runs[row // bank_rows]
        first = known.pop()[0] if known and known[-1][1] == begin else begin
        known.append((first, over))
    return runs


class BankReads:
    """The banks that products read rows of A from, of those with a row in every cycle."""

    def __init__(self, products: Iterable[tuple[Products, int, int]], config: AcceleratorConfig):
        """`products` are in order, each with the clock when it begins and when it is over."""
        self._bank_rows = config.scratchpad_bank_rows
        full = ((op.a, begin, over) for op, begin, over in products if op.rows >= config.dim)
        self._runs = _runs(full, self._bank_rows)

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
        runs = (self._runs.get(bank, []) for bank in banks)
        last = (each[place - 1] for each in runs if (place := bisect_left(each, (end,))))
        return max((first for first, over in last if over > begin), default=None)


class WeightReads:
    """The banks that products read weights from, of those with no more rows than a tile."""

    def __init__(self, products: Iterable[tuple[Products, int, int]], config: AcceleratorConfig):
        """`products` are in order, each with the clock when it begins and when it is over."""
        self._bank_rows = config.scratchpad_bank_rows
        few = (
            (op.w, begin, over)
            for op, begin, over in products
            if op.rows <= tile_cycles(config, op.w_type, transposed=op.w_transposed)
        )
        self._runs = _runs(few, self._bank_rows)

    def over(self, row: int, now: int, cycles: int, reader: int) -> int:
        """When `cycles` of data that come from `now` on are in the bank of `row`.

        Products from `reader` on wait for these data, and do not hold them up.
        """
        runs = self._runs.get(row // self._bank_rows, [])
        for begin, over in runs[max(0, bisect_right(runs, (now, now)) - 1) :]:
            if begin >= min(reader, now + cycles):
                break
            if over > now:
                cycles -= max(0, begin - now)
                now = min(over, reader)
        return now + cycles
