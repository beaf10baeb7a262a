"""A bank serves one access per cycle."""

import pytest

from celosia.sw.timeline.banks import Banks


def test_who_comes_later_waits_for_all_of_a_claim_that_takes_every_access():
    banks = Banks(rows=100, count=2)
    assert banks.claim(5, 0, 100, 100) == 0
    assert banks.claim(50, 20, 70, 50) == pytest.approx(80)


def test_other_banks_and_other_times_do_not_matter():
    banks = Banks(rows=100, count=2)
    banks.claim(5, 0, 100, 100)
    assert banks.claim(105, 20, 70, 50) == 0
    assert banks.claim(5, 100, 150, 50) == 0


def test_shares_that_fit_together_hinder_nobody():
    banks = Banks(rows=100, count=1)
    banks.claim(0, 0, 100, 50)
    assert banks.claim(0, 0, 100, 50) == 0
    assert banks.claim(0, 300, 400, 100) == 0


def test_half_of_the_accesses_are_left():
    banks = Banks(rows=100, count=1)
    banks.claim(0, 0, 1000, 500)
    assert banks.claim(0, 0, 100, 100) == pytest.approx(100)


def test_a_buffer_bridges_short_claims():
    banks = Banks(rows=100, count=1)
    banks.stream(0, 10, 25)
    banks.stream(0, 40, 55)
    assert banks.claim(0, 0, 100, 25, buffer=5) == 0
    banks = Banks(rows=100, count=1)
    banks.stream(0, 10, 60)
    # Five rows come within 20 cycles; none for the other 30.
    assert banks.claim(0, 0, 100, 25, buffer=5) == pytest.approx(30)


def test_what_a_buffer_holds_is_caught_up_with():
    """Five rows come during the claim, and five more until they are all served."""
    banks = Banks(rows=100, count=1)
    banks.stream(0, 10, 20)
    served = banks.served(0, 0, 100, 50, buffer=64)
    assert [(round(begin), round(end), rate) for begin, end, rate in served] == [
        (0, 10, 0.5),
        (10, 20, 0),
        (20, 30, 1),
        (30, 100, 0.5),
    ]
    banks.claim(0, 0, 100, 50, buffer=64)
    assert banks.claim(0, 10, 20, 10) == pytest.approx(30 + 20 - 20)


def test_to_ask_for_a_delay_claims_nothing():
    banks = Banks(rows=100, count=1)
    assert banks.delay(0, 0, 10, 10) == banks.delay(0, 0, 10, 10) == 0
    banks.claim(0, 0, 10, 10)
    assert banks.delay(0, 0, 10, 10) == pytest.approx(10)


def test_streams_that_touch_are_one():
    banks = Banks(rows=100, count=1)
    for begin in range(0, 6400, 16):
        banks.stream(0, begin, begin + 16)
    assert banks.claim(0, 0, 10, 10) == pytest.approx(6400)


def test_a_stream_within_another_claim_does_not_shorten_it():
    banks = Banks(rows=100, count=1)
    banks.claim(0, 0, 100, 100)
    banks.stream(0, 10, 20)
    assert banks.delay(0, 50, 60, 10) == pytest.approx(50)


def test_a_stream_disturbs_the_owners_that_it_meets():
    banks = Banks(rows=100, count=2)
    banks.claim(0, 0, 20, 20, owner=1)
    banks.claim(0, 20, 60, 40, owner=2)
    banks.claim(100, 30, 60, 30, owner=3)
    banks.stream(0, 60, 80)
    assert not banks.disturbed
    banks.stream(100, 40, 50)
    assert banks.disturbed == 3
    banks.stream(0, 30, 40)
    assert banks.disturbed == 2


def test_what_is_taken_back_hinders_nobody():
    banks = Banks(rows=100, count=1)
    banks.claim(0, 0, 20, 20, owner=1)
    banks.claim(0, 20, 60, 40, owner=2)
    banks.stream(0, 40, 50)
    banks.take_back(2)
    assert not banks.disturbed
    assert banks.delay(0, 20, 30, 10) == 0
    assert banks.delay(0, 0, 10, 10) == pytest.approx(20)


def test_what_takes_next_to_no_time_is_served_at_once():
    """Two accesses within a millionth of a cycle are less than what is served of them by then."""
    banks = Banks(rows=100, count=1)
    banks.stream(0, 0, 100)
    assert banks.delay(0, 10, 10 + 1e-7, 2) == 0
    assert banks.delay(0, 10, 10, 2) == 0


def test_a_stream_that_is_known_behind_a_later_one_hides_none():
    banks = Banks(100, 1)
    banks.stream(0, 100, 200)
    banks.stream(0, 10, 20)
    assert banks.delay(0, 100, 110, 10) == 100
    assert banks.delay(0, 10, 15, 5) == 10


def test_streams_are_remembered_for_as_long_as_loads_may_be_ahead_of_them():
    """Four of 20 cycles are left: of ten accesses, four are served at 36, four at 56, two at 76."""
    banks = Banks(100, 1)
    for number in range(1000):
        banks.stream(0, 20 * number, 20 * number + 16)
    assert banks.delay(0, 20, 30, 10) == 78 - 30


def test_what_arrives_while_the_buffer_is_full_is_later_and_so_is_all_behind_it():
    """Five wait from 10 to 20, none arrive until 60, and then twenty at the pace of before."""
    banks = Banks(rows=100, count=1)
    banks.stream(0, 10, 60)
    arrivals = [(0.0, 20.0, 0.5), (20.0, 40.0, 0.5), (40.0, 60.0, 0.5)]
    served, late = banks.claim_behind(0, arrivals, 0, 5, owner=1)
    assert late == pytest.approx(40)
    assert served[-1][1] == pytest.approx(100)
    # Until 70 the bank is theirs alone, and then half of it is: five more take ten cycles.
    assert banks.delay(0, 60, 65, 5) == pytest.approx(80 - 65)
    assert banks.delay(0, 80, 90, 5) == 0


def test_what_waits_is_served_before_the_next_ones_arrive():
    banks = Banks(rows=100, count=1)
    banks.stream(0, 5, 15)
    served, late = banks.claim_behind(0, [(0, 10, 1), (50, 60, 1)], 0, 64, owner=1)
    assert [(begin, end) for begin, end, rate in served if rate] == [(0, 5), (15, 20), (50, 60)]
    assert late == 0


@pytest.mark.parametrize(("buffer", "late"), [(64, 0), (4, 26)])
def test_those_of_one_port_go_behind_each_other(buffer, late):
    banks = Banks(rows=100, count=1)
    served, found = banks.claim_behind(0, [(0, 10, 1)], 30, buffer, owner=1)
    assert served[-1][1] == pytest.approx(40)
    assert found == pytest.approx(late)
