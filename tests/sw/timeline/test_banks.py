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
    assert banks.claim(0, 0, 100, 25, buffer=5) == pytest.approx(50 - 15)


def test_streams_that_touch_are_one():
    banks = Banks(rows=100, count=1)
    for begin in range(0, 6400, 16):
        banks.stream(0, begin, begin + 16)
    assert banks.claim(0, 0, 10, 10) == pytest.approx(6400)
