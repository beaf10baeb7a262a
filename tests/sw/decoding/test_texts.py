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
