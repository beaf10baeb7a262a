"""Rows that are given out in turn."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.sw.ir.program import Space
from celosia.sw.lowering.rings import RING_SHARES, Ring

SPACE = Space.SCRATCHPAD


def test_rows_follow_each_other_until_the_end():
    ring = Ring(SPACE, (100, 10))
    assert [ring.take(4) for _ in range(5)] == [100, 104, 100, 104, 100]
    assert ring.take(6) == 104
    assert ring.take(1) == 100


def test_spans_take_turns():
    ring = Ring(SPACE, (0, 10), (50, 8))
    assert ring.rows == 8
    assert [ring.take(4) for _ in range(6)] == [0, 50, 4, 54, 0, 50]


def test_what_never_fits_is_refused():
    ring = Ring(SPACE, (0, 10), (50, 8))
    ring.take(10)
    with pytest.raises(ValueError, match="9 rows do not fit into a span of 8"):
        ring.take(9)


@given(st.data())
def test_the_last_two_pieces_of_a_share_never_meet(data):
    size = data.draw(st.integers(RING_SHARES, 60))
    ring = Ring(SPACE, (7, size))
    pieces = data.draw(st.lists(st.integers(1, size // RING_SHARES), max_size=30))
    last = None
    for rows in pieces:
        row = ring.take(rows)
        assert 7 <= row <= 7 + size - rows
        assert last is None or row + rows <= last[0] or sum(last) <= row
        last = row, rows
