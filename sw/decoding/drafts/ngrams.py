"""Guesses by a text that was counted: what follows two tokens, or one, most often."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from celosia.sw.decoding.drafts.draft import Guess

__all__ = ["ORDERS", "Ngrams", "count_ngrams"]

ORDERS: Final = (2, 1)
"""How many tokens are followed, the more first."""
_TWICE: Final = 2
"""What two tokens are followed by counts if they stand somewhere so often: once is no habit."""


@dataclass(frozen=True)
class Ngrams:
    """What follows some tokens most often, and how often of all times they are followed by it."""

    followers: Mapping[tuple[int, ...], Guess]
    """By one token, or by two."""

    def __call__(self, text: Sequence[int]) -> Guess | None:
        """What follows the last two tokens of `text`, or else the last one."""
        for order in ORDERS:
            found = self.followers.get(tuple(text[len(text) - order :]))
            if found is not None:
                return found
        return None


def count_ngrams(tokens: Sequence[int]) -> Ngrams:
    """The n-grams of a text; of followers that are as frequent, the first one in it counts."""
    followers = {}
    for order in ORDERS:
        counts: defaultdict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
        for start in range(len(tokens) - order):
            counts[tuple(tokens[start : start + order])][tokens[start + order]] += 1
        for context, found in counts.items():
            times = found.total()
            if order == 1 or times >= _TWICE:
                ((token, count),) = found.most_common(1)
                # Half a time is what was not seen: of two times, both do not make it certain.
                followers[context] = token, count / (times + 0.5)
    return Ngrams(followers)
