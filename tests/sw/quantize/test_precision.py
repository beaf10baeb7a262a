"""Products are chosen by what they lose for a cycle; bounds that nothing meets say what is near."""

from itertools import chain, combinations
from math import inf

import pytest

from celosia.sw.quantize.precision import (
    Bounds,
    BoundsError,
    Candidate,
    choose,
    choose_wide,
    decibels_of,
    noise_of,
    share_of,
)

EIGHT = 1e-3
"""The noise of int8: 30 dB."""
CANDIDATES = [
    Candidate("a", 1e-3, 100),
    Candidate("b", 1e-3, 300),
    Candidate("c", 4e-3, 200),
    Candidate("d", 1e-4, 10),
    Candidate("worse", 0.0, -50),
    Candidate("same", 0.0, 0),
]
LOST = {each.tensor: each.lost for each in CANDIDATES}
SAVED = {each.tensor: each.saved for each in CANDIDATES}


def noise(packed: frozenset[str]) -> float:
    """Losses that add up."""
    return EIGHT + sum(LOST[name] for name in packed)


def chosen(least: float | None = None, most: int | None = None) -> str:
    return "".join(sorted(choose(CANDIDATES, Bounds(least, most), 1000, noise)))


def test_noise_and_decibels_are_each_others_inverse():
    assert decibels_of(0.01) == pytest.approx(20)
    assert noise_of(decibels_of(0.037)) == pytest.approx(0.037)
    assert decibels_of(0) == inf


def test_the_standard_error_of_a_share_is_that_of_a_ratio_of_sums():
    # Noise is 0.2 of the signal; samples are 1 below and 1 above that, of a mean signal of 10:
    # their standard deviation is 1, and the error of a mean of three is that over the root of 3.
    noises = [(1.0, 10.0), (2.0, 10.0), (3.0, 10.0)]
    assert share_of(noises) == pytest.approx((0.2, 1 / 3**0.5 / 10))
    assert share_of([(2.0, 10.0), (4.0, 20.0)]) == pytest.approx((0.2, 0.0)), "alike"
    assert share_of([(3.0, 10.0)]) == pytest.approx((0.3, 0.0)), "one shows no difference"


@pytest.mark.parametrize("least", [21.0, 24.0, 25.0, 26.9, 29.0, 29.9, 30.0])
def test_a_bound_of_accuracy_is_met_with_most_of_the_cycles_that_can_be_saved(least):
    found = choose(CANDIDATES, Bounds(least), 1000, noise)
    assert noise(found) <= noise_of(least)
    useful = [name for name in SAVED if SAVED[name] > 0]
    sets = chain(*(combinations(useful, count) for count in range(len(useful) + 1)))
    best = max(
        sum(SAVED[name] for name in each)
        for each in sets
        if noise(frozenset(each)) <= noise_of(least)
    )
    assert sum(SAVED[name] for name in found) >= 0.9 * best


def test_what_saves_nothing_keeps_int8_whatever_is_let():
    assert chosen(least=0) == "abcd"


def test_a_bound_of_cycles_takes_no_more_products_than_it_needs():
    assert chosen(most=1000) == ""
    assert chosen(most=999) == "b"
    assert chosen(most=600) == "ab"
    assert chosen(most=599) == "abd"
    assert chosen(most=390) == "abcd"


def test_both_bounds_are_met_or_it_is_said_what_either_takes():
    assert chosen(least=26, most=700) == "b"
    with pytest.raises(BoundsError, match=r"^--most-cycles 500: 21.5 dB .* 25 takes 590 cycles$"):
        chosen(least=25, most=500)


def test_what_no_choice_reaches_says_what_is_nearest():
    with pytest.raises(BoundsError, match=r"^--least-sqnr 31: int8 weights reach 30.0 dB$"):
        chosen(least=31)
    with pytest.raises(BoundsError, match=r"^--most-cycles 389: .* 390 cycles are predicted$"):
        chosen(most=389)


def test_without_bounds_a_decibel_may_be_lost():
    assert chosen() == "d"
    assert decibels_of(noise(frozenset("d"))) > 29 > decibels_of(noise(frozenset("a")))


WIDE = [  # Per cycle: b, a, e, c.
    Candidate("a", -4e-4, -100),
    Candidate("b", -3e-4, -30),
    Candidate("c", -1e-4, -200),
    Candidate("d", 0.0, -1),
    Candidate("e", -1e-5, -5),
]
LESS = {each.tensor: each.lost for each in WIDE}


def less(wide: frozenset[str]) -> float:
    """Gains that add up."""
    return EIGHT + sum(LESS[name] for name in wide)


def widened(least: float, most: int | None = None) -> str:
    return "".join(sorted(choose_wide(WIDE, Bounds(least, most), 1000, less)))


def test_operands_become_int16_in_the_order_of_what_they_gain_for_a_cycle():
    assert widened(30) == ""
    assert widened(31) == "b"
    assert widened(33) == "ab"
    assert widened(37) == "abce"
    assert widened(36) == "abc", "what turns out to be needless is left out"


def test_int16_within_both_bounds_or_what_is_nearest():
    assert widened(33, most=1130) == "ab"
    message = r"^--most-cycles 1129: --least-sqnr 33 takes 1,130 cycles, .* in 2 products$"
    with pytest.raises(BoundsError, match=message):
        widened(33, most=1129)
    message = r"^--least-sqnr 40: 37.2 dB are reached with int16 .* have them, 30.0 with int8$"
    with pytest.raises(BoundsError, match=message):
        widened(40)
