"""How extents are cut into parts."""

from collections.abc import Iterable, Iterator

__all__ = [
    "Spans",
    "even_cuts",
    "even_sizes",
    "full_sizes",
    "in_order",
    "side_by_side",
    "tiles",
]

Spans = tuple[tuple[int, int], ...]
"""First row and number of rows of each span of a ring."""


def tiles(extent: int, size: int) -> int:
    """The number of tiles of `size` that cover `extent`."""
    return -(-extent // size)


def even_cuts(extent: int, most: int, multiple: int = 1) -> Iterator[tuple[int, int]]:
    """Start and length of parts of `extent`, none longer than `most`.

    They are as few as can be and nearly equal; all but the last are multiples of `multiple`, if
    `most` is at least that.
    """
    step = tiles(extent, tiles(extent, most))
    if extent > most >= multiple:
        step = min(tiles(step, multiple) * multiple, most // multiple * multiple)
    for start in range(0, extent, step):
        yield start, min(step, extent - start)


def even_sizes(extent: int, most: int, multiple: int = 1) -> tuple[int, ...]:
    """The lengths of such parts."""
    return tuple(size for _, size in even_cuts(extent, most, multiple))


def full_sizes(extent: int, most: int) -> list[int]:
    """The lengths of parts of `extent`, of which only the last may be shorter than `most`."""
    return [min(most, extent - start) for start in range(0, extent, most)]


def in_order(sizes: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Start and length of parts of these `sizes`, each behind the one before."""
    start = 0
    for size in sizes:
        yield start, size
        start += size


def side_by_side(first: int, rows: int, count: int) -> Spans:
    """So many spans of these rows, one behind the other."""
    return tuple((first + turn * rows, rows) for turn in range(count))
