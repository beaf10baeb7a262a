"""How well a model foretells a text: the perplexity of its tokens."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import exp

import numpy as np

from celosia.sw.reference.encoder import Floats
from celosia.sw.reference.language.errors import TokenError

__all__ = ["Likelihood", "Scorer", "log_likelihoods", "score", "windows"]

Scorer = Callable[[Sequence[int]], Floats]
"""The logits (tokens x vocabulary) of what follows each token of a text that begins there."""


@dataclass(frozen=True)
class Likelihood:
    """The sum of the natural logarithms of the probabilities of so many tokens."""

    total: float
    tokens: int

    @property
    def perplexity(self) -> float:
        """The number of equally probable tokens that would be as hard to foretell."""
        return exp(-self.total / self.tokens)


def windows(tokens: Sequence[int], context: int) -> Iterator[tuple[Sequence[int], Sequence[int]]]:
    """The tokens of each window of at most `context`, and those that follow each of them.

    So every token but the first is foretold once, from 1 to `context` tokens before it.
    """
    for start in range(0, len(tokens) - 1, context):
        end = min(start + context, len(tokens) - 1)
        yield tokens[start:end], tokens[start + 1 : end + 1]


def score(scorer: Scorer, tokens: Sequence[int], context: int) -> Likelihood:
    """The likelihood of all `tokens` but the first, in windows that know nothing of each other.

    Raises `TokenError` for fewer than two tokens.
    """
    if len(tokens) < 2:
        raise TokenError(f"{len(tokens)} tokens: none of them follows another")
    total = 0.0
    for seen, following in windows(tokens, context):
        total += float(log_likelihoods(scorer(seen), following).sum(dtype=float))
    return Likelihood(total, len(tokens) - 1)


def log_likelihoods(logits: Floats, tokens: Sequence[int]) -> Floats:
    """The logarithm of the probability that each row of `logits` gives to its one of `tokens`."""
    above = logits - logits.max(axis=-1, keepdims=True)
    return above[np.arange(len(tokens)), list(tokens)] - np.log(np.exp(above).sum(axis=-1))
