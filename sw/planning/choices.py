"""What may be decided one way or another when a graph is planned, as a value."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Final

__all__ = ["ALTERNATIVES", "DEFAULT", "Choices"]

_WITH: Final = "with"
"""What a choice calls the other one without which it says nothing."""


@dataclass(frozen=True, kw_only=True)
class Choices:
    """How a graph is planned and scheduled; the defaults are what is best for long sequences."""

    block_tiles: int = 4
    """Rows of a block, in tiles: so many stream through each tile of weights."""
    piece_tiles: int = 4
    """Tiles along K that a piece of A or of weights has at most."""
    fused_norms: bool = True
    """Sums of squares are counted as a product's results leave; else they are loaded for it."""
    whole_scores: bool = True
    """Scores of all keys stand in the accumulator at once, where enough rows of them do; else block
    by block."""
    short_blocks: bool = False
    """Blocks of half as many rows as the array has are enough for that; else by a rule."""
    scores_in_memory: bool = True
    """Scores of long rows go to memory as int16 and come back, where that takes less time; else
    they are computed twice."""
    results_stay: bool = False
    """Results stay on the chip until somebody reads them, if there is room, however many rows
    products have; else only where these are at most twice the array's, or with caches its own."""
    overlap: bool = True
    """Results of one block leave between products of the next; else before these."""
    schedule_loads: bool = False
    """Loads, drains and stores come when their units are expected to be free, those first that are
    needed soonest; else between nests of products, one like the other, which is more regular."""
    spare_tiles: int = field(default=0, metadata={_WITH: "schedule_loads"})
    """With `schedule_loads`, what a short transform leaves is to be there so many tiles of weights
    before products need it."""

    def __str__(self) -> str:
        return ", ".join(f"{name} {value}" for name, value in self.items())

    def items(self) -> Iterator[tuple[str, int | bool]]:
        """Each choice and what was chosen."""
        for each in fields(self):
            yield each.name, getattr(self, each.name)

    def others(self) -> Iterator[tuple[str, int | bool, "Choices"]]:
        """Each alternative to one of them: its name, its value, and all choices with it.

        A choice that says nothing with these has none.
        """
        for each in fields(self):
            name, needed = each.name, each.metadata.get(_WITH)
            if needed and not getattr(self, needed):
                continue
            for value in ALTERNATIVES[name]:
                if value != getattr(self, name):
                    yield name, value, replace(self, **{name: value})


DEFAULT: Final = Choices()
ALTERNATIVES: Final[Mapping[str, tuple[int | bool, ...]]] = {
    **{name: (value, not value) for name, value in DEFAULT.items() if isinstance(value, bool)},
    "block_tiles": (1, 2, 3, 4, 6, 8),
    "piece_tiles": (1, 2, 4),
    "spare_tiles": (0, 16, 32),
}
"""The values of each choice that are compared: both of those that are yes or no."""
