"""Places of lives: none that meet share a byte, and gaps of just the right size are used."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.sw.scheduling.memory.fit import fit
from celosia.sw.scheduling.memory.lives import Life


def life(name, size, begin, end):
    return Life(name=name, size=size, begin=begin, end=end)


LIVES = st.lists(
    st.builds(
        lambda size, begin, length: (64 * size, begin, begin + length),
        st.integers(1, 5),
        st.integers(0, 9),
        st.integers(1, 6),
    ),
    max_size=9,
).map(lambda all_: [life(f"t{n}", *each) for n, each in enumerate(all_)])


@given(LIVES)
def test_lives_that_meet_share_no_byte_and_the_end_is_that_of_the_last(lives):
    places, end = fit(lives)
    assert places.keys() == {each.name for each in lives}
    assert min(places.values(), default=0) >= 0
    assert end == max((places[each.name] + each.size for each in lives), default=0)
    for one, other in combinations(lives, 2):
        if one.begin < other.end and other.begin < one.end:
            first, second = places[one.name], places[other.name]
            assert first + one.size <= second or second + other.size <= first
    # Each alone needs its size, and all beside each other what they have together.
    assert max((each.size for each in lives), default=0) <= end <= sum(x.size for x in lives)


def test_a_gap_of_just_the_size_of_a_life_is_taken():
    """What dies in the middle leaves room for one as large, and for two that are half of it."""
    around = [life("low", 256, 0, 9), life("gone", 128, 0, 3), life("high", 192, 0, 9)]
    for others in ([128], [64, 64]):
        new = [life(f"new{n}", size, 3, 6) for n, size in enumerate(others)]
        places, end = fit([*around, *new])
        assert end == 256 + 128 + 192
        assert {places[each.name] for each in new} <= {
            places["gone"] + offset for offset in (0, 64)
        }


def test_of_two_gaps_the_smaller_one_that_is_large_enough_is_taken():
    """Else there is none left for a larger life that comes later."""
    lives = [
        life("wall", 512, 0, 9),
        life("large", 256, 0, 3),
        life("between", 384, 0, 9),
        life("small", 128, 0, 3),
        life("takes small", 128, 3, 6),
        life("takes large", 256, 3, 6),
    ]
    assert fit(lives)[1] == 512 + 256 + 384 + 128


@pytest.mark.parametrize(
    "lives",
    [
        [(3, 4, 5), (4, 0, 4), (2, 3, 6), (3, 4, 7)],
        [(5, 3, 7), (3, 1, 3), (2, 2, 4), (5, 0, 2)],
        [(4, 2, 3), (2, 3, 7), (3, 4, 8), (1, 1, 4)],
        [(5, 5, 7), (2, 3, 6), (5, 1, 2), (4, 0, 4)],
    ],
    ids=["large ones first", "in order", "long ones first", "large and long ones first"],
)
def test_each_order_fits_lives_that_no_other_fits(lives):
    """Into as many bytes as lives have together where they are most: no fewer are enough."""
    named = [life(str(number), *each) for number, each in enumerate(lives)]
    most = max(sum(size for size, begin, end in lives if begin <= now < end) for now in range(8))
    assert fit(named)[1] == most
