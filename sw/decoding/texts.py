"""Texts of a step of a decoder, and their places in caches."""

from dataclasses import dataclass
from typing import Final

__all__ = ["GUARD_ROWS", "CacheLayout", "Text"]

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
