"""Which token comes next, by a model's logits."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from celosia.sw.reference.encoder import Floats
from celosia.sw.reference.language.errors import LanguageError, TokenError

__all__ = ["Sampler", "Stepper", "generate"]

Stepper = Callable[[Sequence[int]], Floats]
"""The logits (vocabulary) of what follows some more tokens of the one text that it goes on with."""


@dataclass(frozen=True, kw_only=True)
class Sampler:
    """How a token is chosen.

    Raises `LanguageError` for a temperature that is negative or not finite, or `top_p` not in 0..1.
    """

    temperature: float = 0.0
    """Logits are divided by it; 0 is the greatest logit's token."""
    top_p: float = 1.0
    """Only the most probable tokens are drawn from, as few as have this probability together."""
    seed: int = 0

    def __post_init__(self):
        if not 0 <= self.temperature < np.inf:
            raise LanguageError(f"temperature: {self.temperature} is not a finite number from 0 on")
        if not 0 < self.top_p <= 1:
            raise LanguageError(f"top_p: {self.top_p} is not above 0 and at most 1")

    def random(self) -> np.random.Generator:
        """The source of one text's choices."""
        return np.random.default_rng(self.seed)

    def choose(self, logits: Floats, random: np.random.Generator) -> int:
        """A token; of equal logits, the first token's is the greater."""
        if not self.temperature:
            return int(np.argmax(logits))
        scaled = logits.astype(np.float64) / self.temperature
        powers = np.exp(scaled - scaled.max())
        order = np.argsort(-powers, kind="stable")
        sums = np.cumsum(powers[order])
        kept = int(np.searchsorted(sums, self.top_p * sums[-1])) + 1
        drawn = random.random() * sums[min(kept, len(sums)) - 1]
        return int(order[np.searchsorted(sums, drawn, side="right")])


def generate(
    stepper: Stepper, prompt: Sequence[int], count: int, sampler: Sampler, end: int | None = None
) -> Iterator[int]:
    """Up to `count` tokens that follow `prompt`, each as soon as it is known; `end` ends them.

    Raises `TokenError` for an empty prompt.
    """
    if not len(prompt):
        raise TokenError("an empty prompt: there is nothing to go on with")
    random, tokens = sampler.random(), prompt
    for _ in range(count):
        token = sampler.choose(stepper(tokens), random)
        if token == end:
            return
        yield token
        tokens = [token]
