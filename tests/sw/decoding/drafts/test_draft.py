"""A draft follows the first source that has a guess, as far as it is likely."""

import pytest

from celosia.sw.decoding.drafts.draft import MOST, draft_of


def counting(text):
    return text[-1] + 1, 1.0


def even(text):
    return (100, 1.0) if text[-1] % 2 == 0 else None


def test_each_token_follows_those_before_it():
    assert draft_of(3, counting)([7], 9) == [8, 9, 10]
    assert draft_of(MOST, counting)([7], 2) == [8, 9]
    assert draft_of(3, counting)([7], 0) == []


def test_the_first_source_that_knows_is_asked():
    assert draft_of(3, even, counting)([1], 9) == [2, 100, 100]
    assert draft_of(3, counting, even)([1], 9) == [2, 3, 4]
    assert draft_of(3, even)([1], 9) == []
    assert draft_of(3)([1], 9) == []


def test_a_draft_ends_where_it_is_hardly_right_as_a_whole():
    assert draft_of(9, lambda _: (1, 0.5))([0], 9) == [1, 1, 1]
    assert draft_of(9, lambda _: (1, 0.09))([0], 9) == []
    assert draft_of(9, lambda _: (1, 0.1))([0], 9) == [1]


@pytest.mark.parametrize("most", [0, 16, -1])
def test_lengths_that_no_step_has_are_refused(most):
    with pytest.raises(ValueError, match=rf"draft: {most} tokens are not in 1\.\.15"):
        draft_of(most, counting)
