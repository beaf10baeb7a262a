"""Texts of a step of a decoder, and their places in caches."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from celosia.isa.numerics import MAX_COLUMNS

__all__ = ["GUARD_ROWS", "CacheLayout", "Place", "Text", "check_texts"]

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
class Place:
    """Where a text of a step is: the same program, patched, takes texts in any places."""

    slot: int
    """The number of its rows of the caches."""
    context: int
    """Its tokens there."""


@dataclass(frozen=True)
class CacheLayout:
    """Where the tokens of each text are in the cache of a layer."""

    texts: int
    """Texts that there is room for: a slot for each."""
    capacity: int
    """Tokens that each text has room for."""
    rings: int | None = None
    """Caches of a window are rings of a multiple of so many rows; None: they hold all tokens."""

    @property
    def rows(self) -> int:
        """Rows of the cache of keys, and of that of values."""
        return self.first(self.texts)

    @property
    def slot_rows(self) -> int:
        """Rows from a text's first token to that of the next one."""
        return self.capacity + GUARD_ROWS

    def ring(self, window: int) -> int | None:
        """The places of the ring for a window of so many keys; None: all tokens are held.

        A step of `GUARD_ROWS` tokens overwrites nothing that its first one sees.
        """
        if self.rings is None:
            return None
        size = -(-(window + GUARD_ROWS) // self.rings) * self.rings
        return size if size <= min(MAX_COLUMNS, self.capacity - 2 * GUARD_ROWS) else None

    @staticmethod
    def ring_rows(ring: int) -> int:
        """Rows of a cache that is a ring of so many places.

        Those behind it are for rows of a step that are of no token, and guards.
        """
        return ring + 3 * GUARD_ROWS

    def first(self, slot: int) -> int:
        """The row of the first token of the text in a slot."""
        return GUARD_ROWS + slot * self.slot_rows

    def slot(self, row: int) -> int:
        """The slot of a row of a token."""
        return (row - GUARD_ROWS) // self.slot_rows


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
