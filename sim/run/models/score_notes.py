"""Notes of a run on scores of attention: rows that see no key, and scores that saturate."""

from collections.abc import Iterator, Mapping
from typing import Final

from celosia.sw.quantize.graphs.masks import Sight

__all__ = ["blind_notes", "clipped_notes"]

_TEXTS: Final = {
    Sight.NONE: "see no key: attention is 0 there (a file without a guard computes NaN)",
    Sight.HIDDEN: "only see keys that a large negative number hides: attention is their mean there",
}


def blind_notes(rows: Mapping[tuple[str, Sight], int]) -> Iterator[str]:
    """A note for each reason, with the rows of scores by the file's nodes."""
    for sight, text in _TEXTS.items():
        counts = {name: count for (name, kind), count in rows.items() if kind == sight}
        if counts:
            first, more = next(iter(counts)), len(counts) - 1
            place = f"{first} and {more} more" if more else first
            yield f"{place}: {sum(counts.values()):,} rows of scores {text}"


def clipped_notes(counts: Mapping[str, int]) -> Iterator[str]:
    """A note for each node whose scores saturate, where that changes a weight."""
    for name, count in counts.items():
        what = "score has" if count == 1 else "scores have"
        yield f"{name}: {count:,} {what} another weight than without saturation (docs/numerics.md)"
