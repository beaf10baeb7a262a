"""Guesses by the text so far: what followed its last tokens when they stood there before."""

from collections.abc import Sequence
from typing import Final

from celosia.sw.decoding.drafts.draft import Guess

__all__ = ["SHARES", "look_up"]

SHARES: Final = {4: 0.8, 3: 0.7, 2: 0.5}
"""How many last tokens are looked up, most first, and about how often the guess is right then."""


def look_up(text: Sequence[int]) -> Guess | None:
    """What followed the last place that has the same 4, 3 or 2 tokens as the end of `text`."""
    text = list(text)
    for length, share in SHARES.items():
        tail = text[-length:]
        for start in range(len(text) - length - 1, -1, -1):
            if text[start : start + length] == tail:
                return text[start + length], share
    return None
