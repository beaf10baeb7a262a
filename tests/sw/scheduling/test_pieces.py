"""Rings in use: what is still there, and where pieces begin."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.sw.planning.forms.plan import Machine, Plan, RingPlan
from celosia.sw.planning.rules.common import SHARES
from celosia.sw.scheduling.pieces import Pieces, open_rings

MACHINE = Machine(
    dim=4,
    scratchpad_rows=64,
    accumulator_rows=64,
    parameter_rows=8,
    statistics_rows=16,
    max_blocks=4,
    max_accumulator_blocks=1,
)


def ring(*spans: tuple[int, int], step: int = 1) -> RingPlan:
    return RingPlan(space="scratchpad", spans=spans, step=step)


def test_a_piece_is_there_until_another_one_takes_one_of_its_rows():
    pieces = Pieces(ring((10, 8)))
    assert [pieces.take(key, 3) for key in "abc"] == [10, 13, 10]
    assert [pieces.find(key) for key in "abc"] == [None, 13, 10]


def test_pieces_begin_a_step_apart():
    pieces = Pieces(ring((10, 8), step=4))
    assert [pieces.take(key, 3) for key in "abc"] == [10, 14, 10]
    assert Pieces(ring((10, 8), step=100)).take("a", 3) == 10


def test_rings_with_rows_in_common_overwrite_each_other():
    rings = {"one": ring((0, 8)), "other": ring((4, 8)), "apart": ring((12, 8))}
    opened = open_rings(Plan(graph="g", machine=MACHINE, rings=rings, stages=()))
    opened["one"].take("a", 6)
    opened["apart"].take("a", 6)
    opened["other"].take("b", 2)
    assert [opened[name].find("a") for name in rings] == [None, None, 12]
    assert opened["other"].find("b") == 4


def test_rows_follow_each_other_until_the_end():
    pieces = Pieces(ring((100, 10)))
    assert [pieces.take(key, 4) for key in range(5)] == [100, 104, 100, 104, 100]
    assert pieces.take("six", 6) == 104
    assert pieces.take("one", 1) == 100


def test_spans_take_turns():
    pieces = Pieces(ring((0, 10), (50, 8)))
    assert [pieces.take(key, 4) for key in range(6)] == [0, 50, 4, 54, 0, 50]


def test_a_turn_may_be_chosen_and_the_next_one_follows():
    pieces = Pieces(RingPlan(space="accumulator", spans=((0, 10), (50, 8)), step=1))
    turns = (1, 1, None, 3, 0)
    assert [pieces.take(turn, 3, turn) for turn in turns] == [50, 53, 0, 50, 3]


def test_what_never_fits_is_refused():
    pieces = Pieces(ring((0, 10), (50, 8)))
    pieces.take("ten", 10)
    with pytest.raises(ValueError, match="9 rows do not fit into a span of 8"):
        pieces.take("nine", 9)


@given(st.data())
def test_the_last_two_pieces_of_a_share_never_meet(data):
    size = data.draw(st.integers(SHARES, 60))
    pieces = Pieces(ring((7, size)))
    sizes = data.draw(st.lists(st.integers(1, size // SHARES), max_size=30))
    last = None
    for rows in sizes:
        row = pieces.take(rows, rows)
        assert 7 <= row <= 7 + size - rows
        assert last is None or row + rows <= last[0] or sum(last) <= row
        last = row, rows
