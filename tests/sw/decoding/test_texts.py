"""Texts of a step, and their places in caches."""

import pytest

from celosia.sw.decoding.texts import GUARD_ROWS, CacheLayout, Text, check_texts

CAPACITY = 24


def test_rows_that_nobody_writes_are_around_each_text():
    layout = CacheLayout(3, CAPACITY)
    ends = [layout.first(text) + CAPACITY for text in range(3)]
    assert [layout.first(text) for text in range(3)] == [GUARD_ROWS + end for end in (0, *ends[:2])]
    assert layout.rows == ends[-1] + GUARD_ROWS


@pytest.mark.parametrize(
    ("texts", "keys", "problem"),
    [
        ([], None, "texts: there are none"),
        ([Text(0, 0)], None, "text 0: a step of 0 tokens has nothing to compute"),
        ([Text(-1)], None, "text 0: a context of -1 tokens is negative"),
        (
            [Text(3), Text(CAPACITY)],
            None,
            "text 1: 24 tokens in the cache and 1 of the step are more than the 24 that the cache",
        ),
        ([Text(8)], 8, r"keys: 8 are not in 9\.\.24"),
        ([Text(8)], 25, r"keys: 25 are not in 9\.\.24"),
    ],
)
def test_what_is_no_step_is_refused(texts, keys, problem):
    with pytest.raises(ValueError, match=problem):
        check_texts(texts, CAPACITY, keys)


def test_texts_may_fill_their_caches():
    check_texts([Text(CAPACITY - 1), Text(0, CAPACITY)], CAPACITY, CAPACITY)


def test_every_row_of_a_text_says_whose_it_is():
    layout = CacheLayout(3, CAPACITY)
    for slot in range(3):
        rows = range(layout.first(slot), layout.first(slot) + CAPACITY)
        assert {layout.slot(row) for row in rows} == {slot}


@pytest.mark.parametrize(
    ("window", "ring"),
    [(1, 32), (16, 32), (17, 64), (40, 64), (136, 160), (144, 160), (145, None), (500, None)],
)
def test_a_ring_holds_a_window_and_a_step_and_leaves_two_guards_of_its_cache(window, ring):
    """Room for 200 tokens: 168 places at most, so 160 in steps of 32."""
    layout = CacheLayout(1, 200, rings=32)
    assert layout.ring(window) == ring
    assert CacheLayout(1, 200).ring(window) is None
    if ring is not None:
        assert ring >= window + GUARD_ROWS
        assert CacheLayout.ring_rows(ring) == ring + 48


def test_a_ring_has_no_more_places_than_a_row_of_scores_has_keys():
    layout = CacheLayout(1, 10_000, rings=32)
    assert layout.ring(4096 - GUARD_ROWS) == 4096
    assert layout.ring(4096 - GUARD_ROWS + 1) is None
