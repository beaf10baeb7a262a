"""Texts of a step of a decoder, and their places in caches."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

__all__ = ["GUARD_ROWS", "CacheLayout", "Text", "check_texts"]

GUARD_ROWS: Final = 16
"""Rows before, between and behind the texts of a cache: nobody writes them."""


@dataclass(frozen=True)
class Text:
    """A text of a step: its tokens in the cache, and those that the step adds."""

    context: int
    """Tokens whose keys and values are in the cache."""
    rows: int = 1
    """Tokens of the step."""

    @property
    def keys(self) -> int:
        """Keys behind the step."""
        return self.context + self.rows


@dataclass(frozen=True)
class CacheLayout:
    """Where the tokens of each text are in the cache of a layer."""

    texts: int
    capacity: int
    """Tokens that each text has room for."""

    @property
    def rows(self) -> int:
        """Rows of the cache of keys, and of that of values."""
        return self.first(self.texts)

    def first(self, text: int) -> int:
        """The row of the first token of a text."""
        return GUARD_ROWS + text * (self.capacity + GUARD_ROWS)


def check_texts(texts: Sequence[Text], capacity: int, keys: int | None) -> None:
    """Raise `ValueError` for texts that are no step behind caches for `capacity` tokens each."""
    if not texts:
        raise ValueError("texts: there are none")
    for number, text in enumerate(texts):
        if text.rows < 1:
            raise ValueError(f"text {number}: a step of {text.rows} tokens has nothing to compute")
        if text.context < 0:
            raise ValueError(f"text {number}: a context of {text.context} tokens is negative")
        if text.keys > capacity:
            raise ValueError(
                f"text {number}: {text.context} tokens in the cache and {text.rows} of the step "
                f"are more than the {capacity} that the cache holds"
            )
        if keys is not None and not text.keys <= keys <= capacity:
            raise ValueError(f"keys: {keys} are not in {text.keys}..{capacity}")
