"""A 3-gram model of tokens with interpolated Kneser-Ney smoothing: what a small model must beat.

R. Kneser, H. Ney, "Improved backing-off for m-gram language modeling", ICASSP 1995; interpolated,
with one discount for each order, n1 / (n1 + 2 n2) from the numbers of n-grams that occur once and
twice (S. Chen, J. Goodman, "An empirical study of smoothing techniques", 1998).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import log

__all__ = ["Trigrams"]

Gram = tuple[int, ...]


class Trigrams:
    """The model of a row of `tokens` from a vocabulary of the size `vocabulary`.

    Raises `ValueError` for fewer than three tokens, or one outside the vocabulary.
    """

    def __init__(self, tokens: Sequence[int], vocabulary: int):
        if len(tokens) < 3:
            raise ValueError(f"tokens: {len(tokens)} have no three in a row")
        if not 0 <= min(tokens) <= max(tokens) < vocabulary:
            raise ValueError(f"tokens: {min(tokens)}..{max(tokens)} are not in 0..{vocabulary - 1}")
        self._uniform = 1 / vocabulary
        counts = Counter(zip(tokens, tokens[1:], tokens[2:], strict=False))
        orders = [_Order(counts)]
        while len(next(iter(counts))) > 1:
            # A shorter n-gram counts once for each token that it follows somewhere.
            counts = Counter(gram[1:] for gram in counts)
            orders.append(_Order(counts))
        self._orders = orders[::-1]

    def probability(self, context: Sequence[int], token: int) -> float:
        """The probability of `token` behind `context`, of which the last two tokens matter."""
        found = self._uniform
        for length, order in enumerate(self._orders):
            if length > len(context):
                break
            found = order.probability(tuple(context[len(context) - length :]), token, found)
        return found

    def log_likelihood(self, tokens: Sequence[int]) -> float:
        """The sum of the natural logarithms of the probabilities of all `tokens` but the first."""
        return sum(
            log(self.probability(tokens[max(place - 2, 0) : place], tokens[place]))
            for place in range(1, len(tokens))
        )


class _Order:
    """Counts of n-grams of one length, and of what follows their first tokens."""

    def __init__(self, counts: Mapping[Gram, int]):
        self._counts = counts
        self._totals: Counter[Gram] = Counter()
        self._followers: Counter[Gram] = Counter()
        for gram, count in counts.items():
            self._totals[gram[:-1]] += count
            self._followers[gram[:-1]] += 1
        of_counts = Counter(counts.values())
        once, twice = of_counts[1], of_counts[2]
        self._discount = once / (once + 2 * twice) if once else 0.5

    def probability(self, context: Gram, token: int, shorter: float) -> float:
        """The probability of `token` behind `context`, if the order below says `shorter`."""
        total = self._totals[context]
        if not total:
            return shorter
        kept = max(self._counts.get((*context, token), 0) - self._discount, 0)
        freed = self._discount * self._followers[context]
        return (kept + freed * shorter) / total
