"""What follows most often, by counting."""

import pytest

from celosia.sw.decoding.drafts.ngrams import count_ngrams

TEXT = [1, 2, 3, 1, 2, 3, 1, 2, 4, 4, 2, 5]


def test_two_tokens_are_asked_before_one():
    found = count_ngrams(TEXT)
    assert found([1, 2]) == (3, 2 / 3.5)
    assert found([0, 9, 1, 2]) == (3, 2 / 3.5)
    assert found([9, 2]) == (3, 2 / 4.5)
    assert found([2]) == (3, 2 / 4.5)
    assert found([2, 3]) == (1, 2 / 2.5)


def test_what_stood_there_once_is_no_habit_of_two_tokens():
    found = count_ngrams(TEXT)
    assert (4, 2) not in found.followers
    assert found([4, 2]) == found([2])
    assert found([4, 4]) == found([4]) == (4, 1 / 2.5)


@pytest.mark.parametrize("text", [[], [7], [5]])
def test_what_was_never_followed_is_not_known(text):
    assert count_ngrams(TEXT)(text) is None
    assert count_ngrams(TEXT[:1])([1]) is None
