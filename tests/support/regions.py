"""Regions of local memories: where they are, and that they do not overlap."""

from itertools import pairwise

from celosia.sw.scheduling.pieces import Ring

__all__ = ["check_apart", "spans"]


def spans(*rings: Ring) -> list[tuple[int, int]]:
    """All rows that rings can give out, found by taking them; first and behind the last."""
    found = []
    for ring in rings:
        most = ring.rows
        taken = [ring.take(most) for _ in range(4)]
        found += [(row, row + most) for row in sorted(set(taken))]
    return found


def check_apart(regions: list[tuple[int, int]], rows: int) -> None:
    """The regions (first row, and that behind the last) do not overlap, inside so many rows."""
    ordered = sorted(regions)
    assert ordered[0][0] >= 0
    assert ordered[-1][1] <= rows
    for (_, end), (start, _) in pairwise(ordered):
        assert end <= start
