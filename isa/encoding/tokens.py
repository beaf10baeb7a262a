"""Tokens: counters of finished stores, for which loads can wait."""

from dataclasses import dataclass
from typing import Final

__all__ = ["COUNT_BITS", "COUNT_MASK", "TOKENS", "TOKEN_BITS", "TokenWait"]

TOKEN_BITS: Final = 4
"""Of a counter's number."""

TOKENS: Final = 1 << TOKEN_BITS
"""Counters that there are."""

COUNT_BITS: Final = 32
"""Of a counter."""

COUNT_MASK: Final = (1 << COUNT_BITS) - 1


@dataclass(frozen=True, slots=True)
class TokenWait:
    """For what a load waits: that `count` stores have added to counter `token`."""

    token: int
    count: int

    def describe(self, finished: int) -> str:
        """Why a load that waits for this does not start, when the counter holds `finished`."""
        return (
            f"load waits for token {self.token}: {finished:,} of {self.count:,} stores "
            "have finished"
        )
