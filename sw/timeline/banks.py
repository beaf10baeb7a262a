"""The delays of units that meet at the single ports of the scratchpad's banks."""

from collections import deque
from typing import Final

__all__ = ["Banks"]

REMEMBERED: Final = 64
"""Claims of a bank that may still meet a new one."""


class Banks:
    """Claims of banks, each an interval with a share of the bank's accesses.

    Where shares add up to more than all of them, the claim that is asked for later takes longer.
    """

    def __init__(self, rows: int, count: int):
        self.rows = rows
        self._claims: list[deque[tuple[float, float, float]]] = [
            deque(maxlen=REMEMBERED) for _ in range(count)
        ]

    def claim(self, row: int, begin: float, end: float, accesses: float, buffer: int = 0) -> float:
        """The delay of `accesses` to the bank of `row` that are wanted from `begin` to `end`.

        It is how much later they end, because of the claims so far; they become a claim themselves.
        Accesses of a unit that keeps up to `buffer` rows may wait a while without harm.
        """
        share = min(1.0, accesses / max(1.0, end - begin))
        claims = self._claims[row // self.rows]
        meeting = [each for each in claims if each[1] > begin and share + each[2] > 1]
        over = (
            _served(share, begin, end, sorted(meeting), buffer * (1 - share) / share)
            if meeting
            else end
        )
        claims.append((begin, over, share))
        return over - end

    def stream(self, row: int, begin: float, end: float) -> None:
        """Claim all of the bank of `row` from `begin` to `end`, for accesses that come first."""
        claims = self._claims[row // self.rows]
        if claims and claims[-1][2] == 1.0 and claims[-1][1] >= begin > claims[-1][0]:
            begin = claims.pop()[0]
        claims.append((begin, end, 1.0))


def _served(
    share: float,
    begin: float,
    end: float,
    claims: list[tuple[float, float, float]],
    slack: float,
) -> float:
    """When the accesses that would take from `begin` to `end` are served behind `claims`.

    Each claim may last for `slack` cycles before it counts.
    """
    now, left = begin, share * (end - begin)
    for start, last, other in claims:
        if now + left / share <= start:
            break
        first = start + slack
        if last <= max(now, first):
            continue
        if first > now:
            left -= (first - now) * share
            now = first
        rate = 1 - other
        if rate and rate * (last - now) >= left:
            return now + left / rate
        left -= rate * (last - now)
        now = last
    return now + left / share
