"""The delays of units that meet at the single ports of the scratchpad's banks."""

from bisect import bisect_right, insort
from collections import deque
from collections.abc import Iterable, Sequence
from math import inf
from operator import itemgetter
from typing import Final

__all__ = ["Banks", "Served"]

Served = tuple[float, float, float]
"""From when and until when a bank serves accesses, and how many in a cycle."""

TOO_FEW: Final = 1e-6
"""Accesses that are none: sums of fractions are not exact."""
REMEMBERED: Final = 64
"""Claims of a bank that may still meet a new one."""
STREAMS: Final = 1024
"""Streams of a bank that may: products are known long before loads far ahead of them."""


class Banks:
    """Claims of banks, each an interval with a share of the bank's accesses.

    Where shares add up to more than all of them, the claim that is asked for later takes longer.
    A claim may have an owner, a number from 1: what streams through the bank later, but comes first
    there, `disturbs` it, and it can be taken back.
    """

    def __init__(self, rows: int, count: int):
        self.rows = rows
        self._streams: list[list[Served]] = [[] for _ in range(count)]
        self._claims: list[deque[Served]] = [deque(maxlen=REMEMBERED) for _ in range(count)]
        self._claimed = [0.0] * count
        """When the last claim without an owner is over."""
        self._owned: list[deque[tuple[int, Served]]] = [
            deque(maxlen=REMEMBERED) for _ in range(count)
        ]
        """Claims of owners, whose numbers never fall."""
        self._last = [0.0] * count
        """When the last claim of an owner is over."""
        self.disturbed = 0
        """The first owner whose claim a stream meets; 0: none, since claims were taken back."""

    def served(
        self, row: int, begin: float, end: float, accesses: float, buffer: float = 0
    ) -> list[Served]:
        """When `accesses` to the bank of `row`, wanted from `begin` to `end`, are served.

        That is later because of the claims so far.  A unit that keeps up to `buffer` rows goes on
        meanwhile, and catches up as fast as its bank lets it.
        """
        share = min(1.0, accesses / max(1.0, end - begin))
        meeting = self._meeting(row, begin, share)
        if not meeting or share * (end - begin) < TOO_FEW:
            return [(begin, end, share)]
        return _Backlog([(begin, end, share)], buffer).served(sorted(meeting))

    def _meeting(self, row: int, begin: float, share: float) -> list[Served]:
        """The claims of the bank of `row` beyond `begin` that leave it less than a `share`."""
        bank = row // self.rows
        streams = self._streams[bank]
        meeting = streams[bisect_right(streams, begin, key=itemgetter(1)) :]
        claims = list(self._claims[bank]) if self._claimed[bank] > begin else []
        if self._last[bank] > begin:
            claims += [claim for _, claim in self._owned[bank]]
        meeting += [each for each in claims if each[1] > begin and share + each[2] > 1]
        return meeting

    def delay(
        self, row: int, begin: float, end: float, accesses: float, buffer: float = 0
    ) -> float:
        """How much later than `end` these accesses are served."""
        return self.served(row, begin, end, accesses, buffer)[-1][1] - end

    def claim_served(self, row: int, served: Sequence[Served]) -> None:
        """Claim what is `served` of a unit with a buffer, at the bank of `row`."""
        self._add(row, served, 0)

    def claim(
        self,
        row: int,
        begin: float,
        end: float,
        accesses: float,
        buffer: float = 0,
        *,
        owner: int = 0,
    ) -> float:
        """As `delay`; the accesses become a claim themselves, of this `owner` if there is one."""
        served = self.served(row, begin, end, accesses, buffer)
        over = served[-1][1]
        if not buffer:
            served = [(begin, over, min(1.0, accesses / max(1.0, end - begin)))]
        self._add(row, served, owner)
        return over - end

    def claim_behind(
        self, row: int, arrivals: Sequence[Served], free: float, buffer: float, *, owner: int
    ) -> tuple[list[Served], float]:
        """Claim accesses of an `owner` at the bank of `row`, which go there from `free` on.

        They arrive in some intervals, so many in a cycle, and up to `buffer` of them wait: then no
        more arrive until there is room, and all behind are so much later.  Returns when they are
        served, and how much later than planned the last one arrived.
        """
        begin = arrivals[0][0]
        meeting = self._meeting(row, begin, max(rate for *_, rate in arrivals))
        if free > begin:
            meeting.append((begin, free, 1.0))
        backlog = _Backlog(arrivals, buffer)
        served = backlog.served(sorted(meeting))
        self._add(row, served, owner)
        return served, backlog.late

    def _add(self, row: int, served: Sequence[Served], owner: int) -> None:
        """What is served at the bank of `row` is a claim of this `owner`, if there is one."""
        bank = row // self.rows
        claims = [each for each in served if each[2]]
        if owner:
            self._owned[bank].extend((owner, each) for each in claims)
            self._last[bank] = max(self._last[bank], served[-1][1])
        else:
            self._claims[bank].extend(claims)
            self._claimed[bank] = max(self._claimed[bank], served[-1][1])

    def stream(self, row: int, begin: float, end: float) -> None:
        """Claim all of the bank of `row` from `begin` to `end`, for accesses that come first."""
        bank = row // self.rows
        if self._last[bank] > begin:
            self._disturb(bank, begin, end)
        streams = self._streams[bank]
        if streams and streams[-1][1] >= begin > streams[-1][0]:
            begin, before, _ = streams.pop()
            end = max(end, before)
        if not streams or end >= streams[-1][1]:
            streams.append((begin, end, 1.0))
        else:
            insort(streams, (begin, end, 1.0), key=itemgetter(1))
        if len(streams) > 2 * STREAMS:
            del streams[:STREAMS]

    def _disturb(self, bank: int, begin: float, end: float) -> None:
        """Remember the first owner with a claim between `begin` and `end`."""
        for owner, (first, last, _) in self._owned[bank]:
            if first < end and last > begin:
                self.disturbed = min(self.disturbed or owner, owner)
                return

    def take_back(self, owner: int) -> None:
        """Forget the claims of this owner and of all behind it."""
        self.disturbed = 0
        for bank, claims in enumerate(self._owned):
            while claims and claims[-1][0] >= owner:
                claims.pop()
            self._last[bank] = max((claim[1] for _, claim in claims), default=0.0)


class _Backlog:
    """Accesses that arrive in intervals, each at an even pace, and wait in a buffer for a turn."""

    def __init__(self, arrivals: Sequence[Served], buffer: float):
        self._arrivals, self._buffer = iter(arrivals), buffer
        self._begin, self._pace, self._left = 0.0, 0.0, 0.0
        """When the interval begins, its pace, and how many are still to come."""
        self.late = 0.0
        """By how much they arrive later, since the buffer was full."""
        self._waiting = 0.0
        self._next()
        self._now = self._begin

    def _next(self) -> None:
        """Go on to the next interval in which something arrives."""
        for begin, end, pace in self._arrivals:
            self._begin, self._pace, self._left = begin, pace, pace * (end - begin)
            if self._left > TOO_FEW:
                return
        self._left = 0.0

    def served(self, claims: Iterable[Served]) -> list[Served]:
        """When they are served behind `claims`, which come in order."""
        found: list[Served] = []
        for start, last, other in claims:
            if self._left + self._waiting <= TOO_FEW:
                return found
            if self._now < start:
                self._until(start, 1.0, found)
            if self._now < last:
                self._until(last, 1 - other, found)
        self._until(inf, 1.0, found)
        return found

    def _until(self, until: float, most: float, found: list[Served]) -> None:
        """Add what is served until then, at most so many in a cycle, to what was `found` so far."""
        # Local names and few calls, since searches for plans come here for each piece.
        now, left, waiting, buffer = self._now, self._left, self._waiting, self._buffer
        while now < until and left + waiting > TOO_FEW:
            begun = left > TOO_FEW and now >= self._begin + self.late
            comes = pace = self._pace if begun else 0.0
            rate = most if waiting > TOO_FEW or comes > most else comes
            if waiting >= buffer - TOO_FEW and comes > rate:
                comes = rate
            grows = comes - rate
            step = until - now
            if comes:
                step = min(step, left / comes)
            elif left > TOO_FEW and not begun:
                step = min(step, self._begin + self.late - now)
            if grows:
                step = min(step, (buffer - waiting if grows > 0 else waiting) / abs(grows))
            found.append((now, now + step, rate))
            now += step
            if grows:
                waiting = max(0.0, waiting + grows * step)
            if pace:
                left = max(0.0, left - comes * step)
                if comes < pace:
                    self.late += step * (1 - comes / pace)
                if left <= TOO_FEW:
                    self._next()
                    left = self._left
        self._now, self._left, self._waiting = now, left, waiting
