"""Weights and rows meet at banks."""

import pytest

from celosia.isa.presets import PRESETS
from celosia.sw.timeline.array import ArrayUnit
from celosia.sw.timeline.banks import Banks

BASE = PRESETS["base"]
BANK, DIM = BASE.scratchpad_bank_rows, BASE.dim


def unit():
    """An array, and the scratchpad's banks."""
    banks = Banks(BANK, BASE.scratchpad_banks)
    sums = Banks(BASE.accumulator_bank_rows, BASE.accumulator_banks)
    return ArrayUnit(BASE, banks, sums), banks


def take(array, a, w, begin=0, rows=DIM, transposed=False):
    return array.take(begin, (a, w, 0), rows, transposed=transposed, adds=False)


def begins(a, w, transposed=False):
    array, _ = unit()
    return [take(array, a, w, transposed=transposed) for _ in range(20)]


@pytest.mark.parametrize("transposed", [False, True])
def test_rows_wait_for_weights_of_their_bank(transposed):
    """An access in each cycle: tiles of rows and of weights take twice as long as rows alone."""
    apart, together = (begins(0, w, transposed=transposed) for w in (BANK, 100))
    assert apart[-1] - apart[0] == 19 * DIM
    assert together[-1] - together[0] == pytest.approx(2 * 19 * DIM, abs=DIM)


def test_weights_are_read_before_their_rows():
    array, banks = unit()
    begin = take(array, 0, BANK, begin=100)
    assert 4 <= begin - 100 <= 6
    assert banks.delay(BANK, 100, 110, 10) == pytest.approx(DIM, abs=2)
    assert banks.delay(BANK, 100 + DIM + 2, 110 + DIM + 2, 10) == 0


def test_weights_of_tall_rows_come_as_soon_as_those_before_are_in_the_array():
    """The shadow registers are free when the first of 64 rows has entered, not the last."""
    array, banks = unit()
    first = take(array, 0, BANK, rows=64)
    take(array, 0, BANK, rows=64)
    assert banks.delay(BANK, first + 2, first + 3, 1) > DIM / 2
    assert banks.delay(BANK, first + 40, first + 50, 10) == 0
