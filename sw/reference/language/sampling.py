"""Which token comes next, by a model's logits."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from celosia.sw.reference.encoder import Floats
from celosia.sw.reference.language.errors import LanguageError, TokenError
from celosia.sw.reference.language.random_words import RandomWords

__all__ = ["HALVES", "NEVER", "STEPS", "Continued", "Draft", "Sampler", "generate"]

STEPS: Final = 1024
"""The steps of a logit in which a token becomes half as probable."""
HALVES: Final = np.rint(np.exp2(31 - np.arange(STEPS) / STEPS)).astype(np.int64)
"""The weights of tokens whose logits are so many steps below the greatest: 2^31 and less."""
NEVER: Final = 32 * STEPS
"""Tokens that are so many steps below, or more, are never drawn."""

Draft = Callable[[Sequence[int], int], Sequence[int]]
"""The tokens that may follow a text, so many at most."""


class Continued(Protocol):
    """The one text that a model goes on with."""

    def append(self, tokens: Sequence[int], /) -> Floats:
        """The logits (tokens, vocabulary) of what follows each of some more tokens."""
        ...

    def go_back(self, length: int, /) -> None:
        """Forget all tokens behind the first `length`."""
        ...


@dataclass(frozen=True, kw_only=True)
class Sampler:
    """How a token is chosen.

    All is drawn in integers, so that another program draws the same text from the same logits.  A
    logit that is `d` below the greatest has the weight `HALVES[n % STEPS] >> n // STEPS`, where
    `n = floor(d / temperature * (STEPS / log(2)) + 0.5)`, computed in float64.

    Raises `LanguageError` for a temperature that is negative or not finite, `top_p` not in 0..1,
    or a seed not in 0..2^64-1.
    """

    temperature: float = 0.0
    """Logits are divided by it; 0 is the greatest logit's token."""
    top_p: float = 1.0
    """Only the most probable tokens are drawn from, as few as have this probability together."""
    seed: int = 0
    """The seed of what is drawn."""

    def __post_init__(self):
        if not 0 <= self.temperature < np.inf:
            raise LanguageError(f"temperature: {self.temperature} is not a finite number from 0 on")
        if not 0 < self.top_p <= 1:
            raise LanguageError(f"top_p: {self.top_p} is not above 0 and at most 1")

        if not 0 <= self.seed < RandomWords.SEEDS:
            raise LanguageError(f"seed: {self.seed} is not in 0..2^64-1")

    def random(self) -> RandomWords:
        """The source of one text's choices."""
        return RandomWords(self.seed)

    def choose(self, logits: Floats, random: RandomWords) -> int:
        """A token; of equal logits, the first token's is the greater."""
        if not self.temperature:
            return int(np.argmax(logits))
        weights = self.weights(logits)
        order = np.argsort(-weights, kind="stable")
        sums = np.cumsum(weights[order])
        kept = sums[np.searchsorted(sums, self.top_p * float(sums[-1]))]
        return int(order[np.searchsorted(sums, random.below(int(kept)), side="right")])

    def weights(self, logits: Floats) -> NDArray[np.int64]:
        """How probable each token is, (vocabulary) of 0..2^31, for a temperature above 0."""
        below = logits.max().astype(np.float64) - logits.astype(np.float64)
        steps = np.floor(below / self.temperature * (STEPS / np.log(2)) + 0.5)
        n = np.minimum(steps, NEVER).astype(np.int64)
        return HALVES[n % STEPS] >> n // STEPS


def generate(
    continued: Continued,
    prompt: Sequence[int],
    count: int,
    sampler: Sampler,
    *,
    end: int | None = None,
    draft: Draft | None = None,
) -> Iterator[int]:
    """Up to `count` tokens that follow `prompt`, each as soon as it is known; `end` ends them.

    A `draft` foretells tokens, which a step takes beside the last one that is known.  The text is
    that without a draft: each row of logits chooses a token, and where it is not the one that was
    foretold, the rows behind are forgotten.  A drawn token is foretold with its own probability,
    and others have theirs, divided by what is left: rejection sampling, for a draft that is sure.

    Raises `TokenError` for an empty prompt.
    """
    if not len(prompt):
        raise TokenError("an empty prompt: there is nothing to go on with")
    random, text, known = sampler.random(), [*prompt], 0
    last = len(prompt) + count
    while len(text) < last:
        # A step chooses one token more than is foretold.  Behind the prompt alone nothing is.
        drafted = draft(text, last - len(text) - 1) if draft and known else []
        logits = continued.append([*text[known:], *drafted])
        known = len(text)
        for place, row in enumerate(logits[len(logits) - len(drafted) - 1 :]):
            token = sampler.choose(row, random)
            if token == end:
                continued.go_back(known)
                return
            text.append(token)
            yield token
            if place == len(drafted) or token != drafted[place]:
                break
            known += 1
        continued.go_back(known)
