"""Tiles that somebody sees, by looking at each row and key."""

from hypothesis import given
from hypothesis import strategies as st

from celosia.sw.ir.causal import Diagonal

DIM = 4
DIAGONALS = st.builds(
    Diagonal, last=st.integers(0, 20), window=st.one_of(st.none(), st.integers(1, 12))
)


def sees(diagonal, row, key):
    """Whether a row sees a key."""
    own = diagonal.last + row
    return key <= own and (diagonal.window is None or key > own - diagonal.window)


def rounded(numbers, most):
    """The first number and that behind the last, in tiles, of up to so many."""
    return min(numbers) // DIM * DIM, min((max(numbers) // DIM + 1) * DIM, most)


@given(diagonal=DIAGONALS, rows=st.integers(1, 14), tile=st.integers(0, 9))
def test_rows_that_meet_a_tile_of_keys(diagonal, rows, tile):
    keys = range(tile * DIM, (tile + 1) * DIM)
    whole = range(-(-rows // DIM) * DIM)  # The last tile of rows counts as if it were full.
    meet = [row for row in whole if any(sees(diagonal, row, key) for key in keys)]
    first, behind = diagonal.rows(keys[0], rows, DIM)
    if meet:
        assert (first, behind) == rounded(meet, rows)
    else:
        assert first == behind


@given(diagonal=DIAGONALS, rows=st.integers(1, 14), keys=st.integers(1, 40))
def test_keys_of_tiles_that_some_rows_see(diagonal, rows, keys):
    seen = [key for key in range(keys) if any(sees(diagonal, row, key) for row in range(rows))]
    # Of rows that see none, the last tile is what a program makes a result of.
    assert diagonal.keys(rows, keys, DIM) == rounded(seen or [keys - 1], keys)


@given(diagonal=DIAGONALS, rows=st.integers(0, 9), keys=st.integers(0, 9))
def test_a_diagonal_that_is_moved_is_counted_from_later_rows_and_keys(diagonal, rows, keys):
    moved = diagonal.moved(rows=rows, keys=keys)
    for row in range(5):
        for key in range(5):
            assert sees(moved, row, key) == sees(diagonal, row + rows, key + keys)
