"""What stood before is found by its last tokens."""

import pytest

from celosia.sw.decoding.drafts.lookup import look_up


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ([], None),
        ([1, 2], None),
        ([1, 2, 1], None),
        ([1, 2, 3, 1, 2], 3),
        ([1, 2, 3, 1, 2, 4, 1, 2], 4),
        ([9, 1, 2, 3, 8, 1, 2, 4, 9, 1, 2], 3),
        ([7, 9, 1, 2, 3, 8, 9, 1, 2, 4, 7, 9, 1, 2], 3),
        ([1, 1, 1], 1),
        ([1, 2, 1, 2, 1, 2], 1),
    ],
)
def test_the_longest_end_of_the_latest_place_counts(text, found):
    guess = look_up(text)
    assert (guess and guess[0]) == found
    assert look_up(tuple(text)) == guess


def test_a_longer_end_is_more_certain():
    texts = ([1, 2, 3, 1, 2], [5, 1, 2, 3, 5, 1, 2], [4, 5, 1, 2, 3, 4, 5, 1, 2])
    shares = [guess[1] for text in texts if (guess := look_up(text))]
    assert shares == sorted(set(shares))
    assert 0 < shares[0] < shares[-1] < 1


@pytest.mark.parametrize(("length", "share"), [(2, 0.5), (3, 0.7), (4, 0.8), (5, 0.8)])
def test_a_guess_is_as_sure_as_so_many_tokens_make_it(length, share):
    """Shares that were counted on texts, of 2, 3 and 4 last tokens; more are not looked up."""
    text = [*range(length), 99, 50, *range(length)]
    assert look_up(text) == (99, share)
