"""A draft: the tokens that may follow a text, one after the other, as far as they are likely.

It is made on the host.  What is wrong in it costs rows of a step, and never changes the text.
"""

from collections.abc import Callable, Sequence
from typing import Final

from celosia.sw.reference.language.sampling import Draft

__all__ = ["LEAST", "MOST", "Guess", "Source", "draft_of"]

Guess = tuple[int, float]
"""A token, and the probability that it is the next one."""
Source = Callable[[Sequence[int]], Guess | None]
"""What may follow a text; None: it does not know."""

MOST: Final = 15
"""The most tokens of a draft: a step has a row for each, and one for the token before them."""

LEAST: Final = 0.1
"""The least probability that a draft is right as far as a token; less likely ones are left out.

A row of a step is 3 to 5 % of it with a small model, and a step makes two or three tokens: a row
has to be right once in ten times.
"""


def draft_of(most: int, *sources: Source) -> Draft:
    """A draft of up to `most` tokens: each is the guess of the first source that has one.

    Raises `ValueError` for a `most` that is not in 1..`MOST`.
    """
    if not 1 <= most <= MOST:
        raise ValueError(f"draft: {most} tokens are not in 1..{MOST}")

    def draft(text: Sequence[int], count: int) -> list[int]:
        followed, right = [*text], 1.0
        while len(followed) < len(text) + min(count, most):
            guesses = (source(followed) for source in sources)
            found = next((guess for guess in guesses if guess is not None), None)
            if found is None:
                break
            token, probability = found
            right *= probability
            if right < LEAST:
                break
            followed.append(token)
        return followed[len(text) :]

    return draft
